#include "sluice/test/test_command.h"

#include <expected>
#include <filesystem>
#include <utility>

#include "sluice/definition_file.h"
#include "sluice/languages.h"
#include "sluice/output.h"
#include "sluice/test/test_report.h"
#include "trial/test_file.h"
#include "trial/trial.h"

namespace sluice::app {

namespace {

class TestRun {
public:
    explicit TestRun(const TestOptions& options)
        : options_(options), report_(options.is_json ? ReportStyle::Json : ReportStyle::Text) {}

    ExitCode run() {
        for (const auto& file : options_.files) {
            auto code = run_file(file);
            code_ = code_ == ExitCode::Ok ? code : code_;
            if (code != ExitCode::Ok && options_.stops_at_failure) {
                break;
            }
        }
        report_.end();
        if (code_ == ExitCode::Ok && report_.cases() == 0) {
            say("no case has a name that contains \"{}\"", options_.filter);
            return ExitCode::Invalid;
        }
        return code_;
    }

private:
    ExitCode run_file(const std::string& file) {
        auto text = read_text(file);
        if (!text) {
            return report(text.error());
        }
        auto tests = trial::parse_tests(*text, file);
        if (!tests) {
            report_.add_findings(tests.error());
            return ExitCode::Invalid;
        }
        auto subject = load_subject(std::filesystem::path{file}.parent_path() / tests->definition);
        if (!subject) {
            return subject.error();
        }
        report_.begin_file(file);
        auto code = ExitCode::Ok;
        for (const auto& each : tests->cases) {
            if (!each.name.contains(options_.filter)) {
                continue;
            }
            auto verdict = trial::try_case(*subject, each, vocabulary_);
            report_.add(file, each.name, verdict);
            if (!verdict.has_passed()) {
                code = ExitCode::Failed;
                if (options_.stops_at_failure) {
                    break;
                }
            }
        }
        return code;
    }

    std::expected<trial::Subject, ExitCode> load_subject(const std::filesystem::path& path) {
        auto text = read_text(path.string());
        if (!text) {
            return std::unexpected(report(text.error()));
        }
        // Functions of a server are mocked, so the definition need not declare them.
        auto loaded =
            load_definition(*std::move(text), path.string(), vocabulary_, {.are_all = true});
        if (!loaded) {
            report_.add_findings(loaded.error());
            return std::unexpected(ExitCode::Invalid);
        }
        return trial::Subject{.name = loaded->definition.name,
                              .definitions = loaded->for_catalog(),
                              .functions = loaded->definition.functions,
                              .input = loaded->definition.input};
    }

    const TestOptions& options_;
    const trigger::Vocabulary vocabulary_ = make_vocabulary();
    TestReport report_;
    ExitCode code_ = ExitCode::Ok;
};

} // namespace

ExitCode test(const TestOptions& options) {
    return TestRun{options}.run();
}

} // namespace sluice::app
