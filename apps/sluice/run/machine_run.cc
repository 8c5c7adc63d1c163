#include "sluice/run/machine_run.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "engine/inspector.h"
#include "sluice/definition_file.h"
#include "sluice/languages.h"
#include "sluice/output.h"
#include "sluice/run/machine_cast.h"
#include "sluice/run/prepared_run.h"
#include "trial/stage.h"
#include "value/json.h"
#include "value/time_text.h"
#include "workflow/asl/compile.h"
#include "workflow/asl/history.h"

namespace sluice::app {

namespace {

namespace asl = workflow::asl;

const auto run_name = engine::RunName{.id = "run"};
// A run that never ends is stopped at one of these.
constexpr auto moments_max = std::uint64_t{1'000'000};
constexpr auto steps_max = std::uint64_t{20'000'000};

class MachineRun {
public:
    MachineRun(const RunOptions& options, const workflow::raw::Definition& definition,
               MachineCast& cast, reactor::VirtualTime& time)
        : options_(options),
          definition_(definition),
          time_(time),
          cast_(cast),
          vocabulary_(make_vocabulary()),
          stage_(vocabulary_, time, cast) {}

    Result<Value> run(const Value& input) {
        TRY(stage_.open());
        TRY(stage_.add({{.name = definition_.name,
                         .language = definition_.language,
                         .form = definition_.form,
                         .source = {}}}));
        auto refused = std::optional<Error>{};
        TRY(stage_.start(run_name.id, definition_.name, input, [&](const Result<Value>& started) {
            if (!started) {
                refused = started.error();
            }
        }));
        auto ending = std::optional<Value>{};
        stage_.post(engine::WatchInput{.run = run_name, .done = [&](Result<Value> ended) {
                                           if (ended) {
                                               ending = *std::move(ended);
                                           }
                                       }});
        auto is_over = [&] {
            return ending || refused || stage_.broken() || cast_.missing().has_value();
        };
        TRY(go_on(is_over));
        if (!ending) {
            return std::unexpected(cast_.missing()   ? *cast_.missing()
                                   : refused         ? *refused
                                   : stage_.broken() ? *stage_.broken()
                                                     : Error{Errc::Internal, "no end"});
        }
        return describe();
    }

private:
    template <typename IsOver>
    Result<void> go_on(IsOver is_over) {
        auto steps = std::uint64_t{0};
        for (auto moment = std::uint64_t{0}; moment < moments_max; ++moment) {
            while (!is_over() && stage_.step()) {
                if (++steps > steps_max) {
                    return fail(Errc::LimitExceeded, "the machine goes on without an end");
                }
            }
            if (is_over()) {
                return {};
            }
            auto next = stage_.until_next();
            if (!next) {
                return fail(Errc::Unavailable,
                            "nothing is due any more and the machine has not ended: a task has "
                            "neither an answer nor a timeout");
            }
            time_.advance(*next);
        }
        return fail(Errc::LimitExceeded, "the machine has not ended after {}",
                    value::format_duration(time_.steady()));
    }

    Result<Value> describe() {
        auto inspector = engine::Inspector{stage_.store(), stage_.vocabulary()};
        auto state = TRY(inspector.run(run_name));
        const auto& progress = state->progress;
        auto told = asl::execution_end(progress.status, progress.result, progress.error);
        if (options_.has_history) {
            auto history = asl::History{};
            static_cast<void>(TRY(engine::replay(inspector, run_name, {}, {}, &history)));
            history.close(progress);
            told = told.with("history", Value::list(history.events()));
        }
        return told;
    }

    const RunOptions& options_;
    const workflow::raw::Definition& definition_;
    reactor::VirtualTime& time_;
    MachineCast& cast_;
    const trigger::Vocabulary vocabulary_;
    trial::Stage stage_;
};

Result<Value> read_json(const std::string& given, std::string_view what) {
    if (given.empty()) {
        return Value{};
    }
    auto is_file = given.starts_with('@');
    auto text = is_file ? TRY(read_text(given.substr(1))) : given;
    auto parsed = value::parse_json(text);
    if (!parsed) {
        return fail(Errc::InvalidInput, "{} is no JSON: {}", what, parsed.error().message);
    }
    return *std::move(parsed);
}

/// `orders` of `dir/orders.asl.json`.
std::string name_of_file(const std::string& path) {
    auto name = std::filesystem::path{path}.filename().string();
    return name.substr(0, std::max<std::size_t>(name.find('.'), 1));
}

Time now() {
    return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

} // namespace

bool is_trial(const RunOptions& options) {
    return !options.mocks.empty() || !options.objects.empty() || options.skips_waits ||
           options.has_history;
}

ExitCode try_machine(const RunOptions& options) {
    auto text = read_text(options.file);
    if (!text) {
        return report(text.error());
    }
    auto definition = load_machine(*text, options.file,
                                   {.name = name_of_file(options.file),
                                    .is_express = options.is_express,
                                    .is_mocked = !options.mocks.empty()});
    if (!definition) {
        say_findings(definition.error());
        return ExitCode::Invalid;
    }
    auto input = options.input.empty() ? Result<Value>{Value::map({})}
                                       : read_json(options.input, "the input");
    auto mocks_form = read_json(options.mocks, "--mocks");
    auto objects_form = read_json(options.objects, "--objects");
    for (const auto* each : {&input, &mocks_form, &objects_form}) {
        if (!*each) {
            return report(each->error());
        }
    }
    auto mocks = asl::Mocks::read(*mocks_form);
    if (!mocks) {
        return report({Errc::InvalidInput, "--mocks: " + mocks.error().message});
    }
    auto objects = asl::ObjectsInMemory::read_form(*objects_form);
    if (!objects) {
        return report({Errc::InvalidInput, "--objects: " + objects.error().message});
    }
    auto time = reactor::VirtualTime{now()};
    auto cast = MachineCast{*std::move(mocks), *std::move(objects), time};
    auto told = MachineRun{options, *definition, cast, time}.run(*input);
    if (!told) {
        return report(told.error());
    }
    print_json(*told);
    return text_at(*told, "status") == "SUCCEEDED" ? ExitCode::Ok : ExitCode::Failed;
}

} // namespace sluice::app
