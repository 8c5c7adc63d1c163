#include "sluice/run/backfill_run.h"

#include <future>
#include <optional>

#include "sluice/languages.h"
#include "sluice/output.h"
#include "sluice/run/data_directory.h"
#include "sluice/run/execution.h"
#include "sluice/run/idle.h"
#include "value/time_text.h"

namespace sluice::app {

namespace {

using server::intake::Backfill;

Value form_of(const BackfillOptions& options, const PreparedRun& prepared) {
    auto form = Value::object({{"definition", prepared.loaded.definition.name},
                               {"from", options.from},
                               {"to", options.to},
                               {"every", options.every},
                               {"zone", options.zone},
                               {"limit", static_cast<std::int64_t>(options.limit)}});
    return prepared.input.is_null() ? form : form.with("input", prepared.input);
}

std::string command_of(const BackfillOptions& options) {
    auto text = fmt::format("sluice backfill {} --from {} --to {} --data {}", options.file,
                            options.from, options.to, options.data);
    for (const auto& [flag, value] : {std::pair{"--every", &options.every},
                                      {"--zone", &options.zone},
                                      {"--input", &options.input},
                                      {"--functions", &options.functions}}) {
        text += value->empty() ? "" : fmt::format(" {} '{}'", flag, *value);
    }
    return text;
}

Result<void> add_definitions(engine::Catalog& catalog, const LoadedDefinition& loaded) {
    for (const auto& definition : loaded.for_catalog()) {
        TRY(catalog.add(engine::RunName{}.space, definition));
    }
    return {};
}

ExitCode tell_plan(const Backfill& backfill) {
    for (auto time : backfill.times) {
        print("{}  {}", value::format_time(time), backfill.run_of(time));
    }
    return ExitCode::Ok;
}

} // namespace

Result<void> BackfillRun::begin(engine::Engine& engine) const {
    TRY(add_definitions(engine.catalog(), prepared_.loaded));
    TRY(add_definitions(engine.catalog(), own_));
    auto started = std::promise<Result<Value>>{};
    engine.start({.id = id(), .definition = own_.definition.name, .input = backfill_.run_input()},
                 [&](Result<Value> answer) { started.set_value(std::move(answer)); });
    TRY(started.get_future().get());
    auto has_failed = [](const trigger::RunState* state) -> Result<Value> {
        return Value{state->has_ended() && state->progress.status != trigger::Status::Succeeded};
    };
    auto failed = TRY(ask(engine, {.id = id()}, has_failed));
    if (failed.as_bool()) {
        auto reopened = std::promise<Result<Value>>{};
        engine.reopen({.id = id()}, Value::object({{"task", Backfill::task}}),
                      [&](Result<Value> answer) { reopened.set_value(std::move(answer)); });
        TRY(reopened.get_future().get());
    }
    return {};
}

ExitCode run_backfill(const BackfillOptions& options) {
    auto run = RunOptions{.file = options.file,
                          .input = options.input,
                          .functions = options.functions,
                          .data = options.data,
                          .is_json = options.is_json};
    auto vocabulary = make_vocabulary();
    auto code = ExitCode::Ok;
    auto prepared = prepare(run, vocabulary, code);
    if (!prepared) {
        return code;
    }
    auto backfill = Backfill::parse(form_of(options, *prepared), {});
    if (!backfill) {
        return report(backfill.error());
    }
    if (options.is_dry_run) {
        return tell_plan(*backfill);
    }
    auto own = load_definition(backfill->definition_text(), "backfill", vocabulary, {});
    if (!own) {
        say_findings(own.error());
        return ExitCode::Invalid;
    }
    auto directory = DataDirectory::named(options.data);
    auto beginning = BackfillRun{*std::move(prepared), *std::move(backfill), *std::move(own),
                                 command_of(options)};
    return Execution{run, beginning, directory}.run();
}

} // namespace sluice::app
