#include "sluice/run/execution.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <unistd.h>

#include "engine/inspector.h"
#include "sluice/output.h"
#include "sluice/run/idle.h"
#include "value/json.h"
#include "workflow/asl/history.h"

namespace sluice::app {

namespace {

constexpr auto tick_min = std::chrono::milliseconds{50};
constexpr auto tick_max = std::chrono::milliseconds{1'000};

ProgressStyle style_of(const RunOptions& options) {
    if (options.is_json) {
        return ProgressStyle::Json;
    }
    if (options.is_quiet) {
        return ProgressStyle::Quiet;
    }
    return ::isatty(STDERR_FILENO) == 1 ? ProgressStyle::Terminal : ProgressStyle::Lines;
}

} // namespace

Execution::Execution(const RunOptions& options, Beginning& beginning,
                     const DataDirectory& directory)
    : options_(options),
      beginning_(beginning),
      directory_(directory),
      name_{.id = beginning.id()},
      progress_(style_of(options), beginning.id()) {}

ExitCode Execution::run() {
    if (auto begun = begin(); !begun) {
        close();
        return stop_failed(begun.error());
    }
    auto code = follow();
    close();
    return code;
}

Result<void> Execution::begin() {
    TRY(open_session());
    auto& engine = session_->engine();
    progress_.begin(engine.catalog(), session_->store());
    TRY(check_existing());
    TRY(beginning_.begin(engine));
    engine.await(name_, [this](Result<Value> ending) {
        auto lock = std::lock_guard{mutex_};
        ending_ = std::move(ending);
        bell_.ring();
    });
    if (!options_.events.empty()) {
        feed_ = TRY(EventFeed::start(options_.events, name_.id, engine, progress_, bell_));
    }
    return {};
}

Result<void> Execution::open_session() {
    auto session = SessionOptions{
        .data = directory_.path(),
        .durability = beginning_.durability(),
        .threads = options_.threads,
        .diagnostics = options_.is_json ? observe::Format::Json : observe::Format::Text,
        .secrets = &secrets_,
        .watch = {.wants = {},
                  .decided = [this](const engine::RunName& run,
                                    std::string_view record) { progress_.take(run, record); },
                  .wants_runs = {},
                  .listed = {}},
        .on_stop = [this](const Error& error) {
            auto lock = std::lock_guard{mutex_};
            broken_ = error;
            bell_.ring();
        }};
    beginning_.prepare(session);
    session_ = TRY(Session::open(std::move(session)));
    return {};
}

/// A run that is there already must be the one that is meant.
Result<void> Execution::check_existing() {
    auto read = [](const trigger::RunState* state) -> Result<Value> {
        return state == nullptr ? Value{}
                                : Value::object({{"set", state->info.set},
                                                 {"input", state->info.input},
                                                 {"forked_from", state->info.forked_from},
                                                 {"generation", number(state->info.generation)},
                                                 {"has_ended", state->has_ended()}});
    };
    auto existing = TRY(ask(session_->engine(), name_, read));
    if (existing.is_null()) {
        return {};
    }
    TRY(beginning_.check_same(existing));
    auto has_ended = existing.find("has_ended")->as_bool();
    notice(fmt::format("run {} {} in {}", name_.id, has_ended ? "has ended already" : "continues",
                       directory_.path().string()),
           Value::object({{"kind", "existing"}, {"run", name_.id}, {"has_ended", has_ended}}));
    return {};
}

std::optional<ExitCode> Execution::stop_if_over() {
    auto lock = std::unique_lock{mutex_};
    auto broken = broken_;
    auto ending = ending_;
    lock.unlock();
    if (broken) {
        stop_broken(*broken);
    }
    if (ending) {
        return *ending ? stop_ended(**ending) : stop_failed(ending->error());
    }
    if (interrupts_.has_come()) {
        return stop_interrupted();
    }
    if (feed_ && feed_->error()) {
        return stop_failed(*feed_->error());
    }
    return std::nullopt;
}

ExitCode Execution::follow() {
    auto tick = tick_min;
    auto seen = progress_.activity();
    auto is_quiet_since = false;
    while (true) {
        bell_.wait(tick);
        if (auto code = stop_if_over()) {
            return *code;
        }
        if (feed_ && !feed_->is_over()) {
            continue;
        }
        auto now = progress_.activity();
        auto is_quiet = now == std::exchange(seen, now) && is_idle(session_->engine(), name_) &&
                        now == progress_.activity();
        if (is_quiet && std::exchange(is_quiet_since, is_quiet)) {
            return stop_waiting();
        }
        is_quiet_since = is_quiet;
        tick = is_quiet ? tick_min : std::min(tick * 3 / 2, tick_max);
    }
}

void Execution::close() {
    feed_.reset();
    if (session_) {
        session_->stop();
    }
    progress_.finish();
    session_.reset();
}

void Execution::notice(const std::string& line, const Value& json) const {
    say_line(options_.is_json ? value::to_json(json) : line);
}

bool Execution::is_kept() const {
    return !directory_.is_temporary() && beginning_.durability() != store::Durability::Memory;
}

ExitCode Execution::stop_interrupted() {
    close();
    auto events = options_.events.empty() ? "" : " --events " + options_.events;
    notice(is_kept() ? fmt::format("interrupted: what was taken is safe; continue with\n  {}{}",
                                   beginning_.again(), events)
                     : "interrupted: nothing of the run is kept without --data",
           Value::object({{"kind", "interrupted"}, {"run", name_.id}, {"is_kept", is_kept()}}));
    return ExitCode::Interrupted;
}

ExitCode Execution::stop_failed(const Error& error) const {
    notice("sluice: " + error.message,
           Value::object({{"kind", "error"}, {"message", error.message}}));
    return exit_code_of(error);
}

std::string Execution::how_to_go_on(
    const std::vector<server::inspect::WaitingTrigger>& triggers) const {
    auto is_halted = [](const auto& each) { return each.status == "halted"; };
    auto halted = std::ranges::find_if(triggers, is_halted);
    if (!is_kept()) {
        return halted == triggers.end()
                   ? "send it some with --events; nothing of it is kept without --data"
                   : "nothing of it is kept without --data: run it with one to mend it and go on";
    }
    if (halted == triggers.end()) {
        return fmt::format("continue with\n  {} --events FILE", beginning_.again());
    }
    // Tasks in items of a map are named by their place.
    const auto* task = halted->scope.empty() ? halted->id.c_str() : "TASK";
    return fmt::format(
        "mend the cause (or `skip` the task, or `set-result`) and continue with\n"
        "  sluice retry {} --task {} --data {}\n  {}",
        name_.id, task, options_.data, beginning_.again());
}

ExitCode Execution::stop_waiting() {
    feed_.reset();
    session_->stop();
    progress_.finish();
    auto inspector = engine::Inspector{session_->store(), session_->vocabulary()};
    auto triggers = server::inspect::waiting_triggers(inspector, name_);
    if (!triggers) {
        return stop_failed(triggers.error());
    }
    auto is_one = triggers->size() == 1;
    auto text = fmt::format("the run waits for events: {} trigger{} wait{}", triggers->size(),
                            is_one ? "" : "s", is_one ? "s" : "");
    auto items = std::vector<Value>{};
    for (const auto& each : *triggers) {
        text += "\n  " + to_text(each);
        items.push_back(to_value(each));
    }
    text += "\n" + how_to_go_on(*triggers);
    notice(text, Value::object({{"kind", "waiting"},
                                {"run", name_.id},
                                {"is_kept", is_kept()},
                                {"triggers", Value::list(std::move(items))}}));
    return ExitCode::Waiting;
}

namespace {

trigger::Status status_named(std::string_view name) {
    for (auto status : {trigger::Status::Succeeded, trigger::Status::Failed,
                        trigger::Status::Cancelled, trigger::Status::TimedOut}) {
        if (to_string(status) == name) {
            return status;
        }
    }
    return trigger::Status::Running;
}

} // namespace

Result<std::vector<Value>> Execution::machine_history() {
    session_->stop();
    auto inspector = engine::Inspector{session_->store(), session_->vocabulary()};
    auto history = workflow::asl::History{};
    std::ignore = TRY(engine::replay(inspector, name_, {}, {}, &history));
    auto state = TRY(inspector.run(name_));
    history.close(state->progress);
    return history.events();
}

ExitCode Execution::stop_ended(const Value& ending) {
    auto had_bad_lines = feed_ && feed_->had_bad_lines() && !options_.keeps_going;
    feed_.reset();
    auto history = options_.has_history && beginning_.is_machine() ? machine_history()
                                                                   : Result<std::vector<Value>>{};
    close();
    if (!history) {
        return stop_failed(history.error());
    }
    auto status = text_at(ending, "status");
    if (beginning_.is_machine()) {
        auto part = [&](std::string_view name) {
            const auto* found = ending.find(name);
            return found == nullptr ? Value{} : *found;
        };
        auto told =
            workflow::asl::execution_end(status_named(status), part("result"), part("error"));
        print_json(options_.has_history ? told.with("history", Value::list(*std::move(history)))
                                        : told);
    }
    if (status != to_string(trigger::Status::Succeeded)) {
        notice(
            fmt::format("run {} {}: {}", name_.id, status, describe_error(*ending.find("error"))),
            Value::object({{"kind", "failed"}, {"run", name_.id}, {"status", status}})
                .with("error", *ending.find("error")));
        return ExitCode::Failed;
    }
    if (!beginning_.is_machine()) {
        print_json(*ending.find("result"));
    }
    return had_bad_lines ? ExitCode::Invalid : ExitCode::Ok;
}

/// The engine is gone, and with it everything that could be waited for: children are stopped, and
/// that is all.
void Execution::stop_broken(const Error& error) {
    session_->stop();
    say("sluice: the store failed and everything has stopped: {}", error.message);
    ::_exit(static_cast<int>(ExitCode::Unavailable));
}

} // namespace sluice::app
