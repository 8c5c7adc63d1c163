#include "sluice/machine/machine_run.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "engine/inspector.h"
#include "sluice/definition_file.h"
#include "sluice/languages.h"
#include "sluice/machine/machine_cast.h"
#include "sluice/output.h"
#include "sluice/run/prepared_run.h"
#include "trial/stage.h"
#include "trigger/arrival.h"
#include "value/json.h"
#include "value/time_text.h"
#include "value/wording.h"
#include "workflow/asl/compile.h"
#include "workflow/asl/history.h"

namespace sluice::app {

namespace {

namespace asl = workflow::asl;

const auto run_name = engine::RunName{.id = "run"};
// Of nobody, as in the service's own examples.
constexpr auto account = std::string_view{"111111111111"};
// A run that never ends is stopped at one of these.
constexpr auto moments_max = std::uint64_t{1'000'000};
constexpr auto steps_max = std::uint64_t{20'000'000};
// No time passes in a loop of an express machine that does not wait.
constexpr auto express_events_max = std::uint64_t{2'000'000};

/// A machine to be tried, with all that is given to it.
struct Trial {
    std::string text;
    std::string file;
    Value input;
    Value mocks; ///< Null: tasks call functions.
    Value objects;
    bool is_express = false;
    bool has_history = false;
    std::optional<Nanos> stop_after{}; ///< When somebody stops it.
};

class MachineRun {
public:
    MachineRun(const workflow::raw::Definition& definition, const trigger::Vocabulary& vocabulary,
               MachineCast& cast, reactor::VirtualTime& time)
        : definition_(definition), time_(time), cast_(cast), stage_(vocabulary, time, cast) {}

    Result<Value> run(const Trial& trial) {
        TRY(stage_.open());
        TRY(stage_.add({{.name = definition_.name,
                         .language = definition_.language,
                         .form = definition_.form,
                         .source = {}}}));
        auto refused = std::optional<Error>{};
        TRY(stage_.start(run_name.id, definition_.name, trial.input,
                         [&](const Result<Value>& started) {
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
        if (trial.stop_after) {
            time_.after(*trial.stop_after, [this] { stop(); });
        }
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
        return describe(trial.has_history);
    }

private:
    /// As StopExecution does, without an error or a cause.
    void stop() {
        stage_.post(engine::CommandInput{.run = run_name,
                                         .type = std::string{trigger::types::run_terminate},
                                         .data = Value::object({{"error", Value::object({})}}),
                                         .done = [](const Result<Value>& /*stopped*/) {}});
    }

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

    Result<Value> describe(bool has_history) {
        auto inspector = engine::Inspector{stage_.store(), stage_.vocabulary()};
        auto state = TRY(inspector.run(run_name));
        const auto& progress = state->progress;
        auto told = asl::execution_end(progress.status, progress.result, progress.error);
        if (has_history) {
            auto history = asl::History{};
            static_cast<void>(TRY(engine::replay(inspector, run_name, {}, {}, &history)));
            history.close(progress);
            told = told.with("history", Value::list(history.events()));
        }
        return told;
    }

    const workflow::raw::Definition& definition_;
    reactor::VirtualTime& time_;
    MachineCast& cast_;
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

Result<std::optional<Nanos>> read_duration(std::string_view text) {
    if (text.empty()) {
        return std::nullopt;
    }
    return std::optional{TRY(value::parse_duration(text))};
}

/// `orders` of `dir/orders.asl.json`.
std::string name_of_file(const std::string& path) {
    auto name = std::filesystem::path{path}.filename().string();
    return name.substr(0, std::max<std::size_t>(name.find('.'), 1));
}

Time now() {
    return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

Result<Value> try_one(const Trial& trial, const trigger::Vocabulary& vocabulary,
                      Findings& findings) {
    auto mocks = asl::Mocks::read(trial.mocks);
    if (!mocks) {
        return fail(Errc::InvalidInput, "--mocks: {}", mocks.error().message);
    }
    auto is_mocked = !trial.mocks.is_null();
    auto has_mock = [&](std::string_view state) { return !is_mocked || mocks->has(state); };
    auto definition = load_machine(trial.text, trial.file,
                                   {.name = name_of_file(trial.file),
                                    .is_express = trial.is_express,
                                    .account = std::string{account},
                                    .is_mocked = is_mocked,
                                    .has_mock = has_mock,
                                    .events_max = trial.is_express ? express_events_max : 0});
    if (!definition) {
        findings = std::move(definition.error());
        return fail(Errc::InvalidInput, "{}", findings.front().message);
    }
    auto objects = asl::ObjectsInMemory::read_form(trial.objects);
    if (!objects) {
        return fail(Errc::InvalidInput, "--objects: {}", objects.error().message);
    }
    auto time = reactor::VirtualTime{now()};
    auto cast = MachineCast{*std::move(mocks), *std::move(objects), time};
    return MachineRun{*definition, vocabulary, cast, time}.run(trial);
}

/// One trial a line, `{id, definition, input, mocks, objects, express, stopAfter}`, and one answer
/// a line.
ExitCode try_lines(const std::string& text) {
    auto vocabulary = make_vocabulary();
    auto rest = std::string_view{text};
    while (!rest.empty()) {
        auto line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        auto given = value::parse_json(line);
        if (!given) {
            return report({Errc::InvalidInput, "a line is no JSON: " + given.error().message});
        }
        auto part = [&](std::string_view name) {
            const auto* found = given->find(name);
            return found == nullptr ? Value{} : *found;
        };
        auto findings = Findings{};
        auto definition = part("definition");
        auto stop_after = read_duration(value::text_at(*given, "stopAfter"));
        if (!stop_after) {
            return report(stop_after.error());
        }
        auto told = try_one({.text = definition.is_string() ? std::string{definition.as_string()}
                                                            : value::to_json(definition),
                             .file = "machine.asl.json",
                             .input = part("input"),
                             .mocks = part("mocks"),
                             .objects = part("objects"),
                             .is_express = part("express") == Value{true},
                             .has_history = true,
                             .stop_after = *stop_after},
                            vocabulary, findings);
        auto answer = told ? *told : Value::object({{"refused", told.error().message}});
        print_line(value::to_json(answer.with("id", part("id"))));
    }
    return ExitCode::Ok;
}

} // namespace

bool is_trial(const RunOptions& options) {
    return !options.mocks.empty() || !options.objects.empty() || options.skips_waits ||
           !options.stop_after.empty() || options.is_batch ||
           (options.has_history && options.data.empty());
}

ExitCode try_machine(const RunOptions& options) {
    auto text = read_text(options.file);
    if (!text) {
        return report(text.error());
    }
    if (options.is_batch) {
        return try_lines(*text);
    }
    auto input = options.input.empty() ? Result<Value>{Value::map({})}
                                       : read_json(options.input, "the input");
    auto mocks = read_json(options.mocks, "--mocks");
    auto objects = read_json(options.objects, "--objects");
    for (const auto* each : {&input, &mocks, &objects}) {
        if (!*each) {
            return report(each->error());
        }
    }
    auto stop_after = read_duration(options.stop_after);
    if (!stop_after) {
        return report(stop_after.error());
    }
    auto findings = Findings{};
    auto told = try_one({.text = *std::move(text),
                         .file = options.file,
                         .input = *std::move(input),
                         .mocks = *std::move(mocks),
                         .objects = *std::move(objects),
                         .is_express = options.is_express,
                         .has_history = options.has_history,
                         .stop_after = *stop_after},
                        make_vocabulary(), findings);
    if (!findings.empty()) {
        say_findings(findings);
        return ExitCode::Invalid;
    }
    if (!told) {
        return report(told.error());
    }
    print_json(*told);
    return text_at(*told, "status") == "SUCCEEDED" ? ExitCode::Ok : ExitCode::Failed;
}

} // namespace sluice::app
