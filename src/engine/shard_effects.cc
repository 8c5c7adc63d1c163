#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "engine/shard.h"
#include "event/trace.h"

// What a decision asks of the world outside its run, put into the outbox or the release of the
// commit being decided.
namespace sluice::engine {

namespace {

/// The trace that a nested run belongs to, below the span of its start; null: none.
Value trace_below(const std::string& run, const trigger::TaskKey& key,
                  const trigger::TaskState& task) {
    const auto* trace = task.policy.find("traceparent");
    if (trace == nullptr || !trace->is_string()) {
        return {};
    }
    auto start = fmt::format("{}/{}/{}", run, key.fire.raw(), key.index);
    return Value{event::trace_under(trace->as_string(), start)};
}

std::string_view ending_type(trigger::Status status) {
    switch (status) {
        case trigger::Status::Succeeded: return trigger::types::run_succeeded;
        case trigger::Status::Cancelled: return trigger::types::run_cancelled;
        case trigger::Status::TimedOut: return trigger::types::run_timed_out;
        default: return trigger::types::run_failed;
    }
}

} // namespace

void Shard::follow_effects(AwakeRun& run, std::size_t from) {
    auto calls_most = release_.calls.size() + run.journal.effects.size() - from;
    if (calls_most > release_.calls.capacity()) {
        release_.calls.reserve(std::max(calls_most, 2 * release_.calls.capacity()));
    }
    // By index: following one effect may not add others, but the journal is the run's own.
    for (auto at = from; at < run.journal.effects.size(); ++at) {
        auto& effect = run.journal.effects[at];
        if (auto* opened = std::get_if<trigger::TaskOpened>(&effect)) {
            follow(run, std::move(*opened));
        } else if (const auto* closed = std::get_if<trigger::TaskClosed>(&effect)) {
            follow(run, *closed);
        } else if (const auto* retried = std::get_if<trigger::TaskRetried>(&effect)) {
            auto task = run.state->tasks.find(retried->key);
            if (retried->is_waiting || task == run.state->tasks.end()) {
                continue;
            }
            if (task->second.kind == trigger::TaskKind::Run) {
                send_start(run, retried->key, task->second);
            } else {
                release_.calls.push_back(
                    call_of(run, retried->key, task->second, retried->attempt));
            }
        } else if (const auto* timer = std::get_if<trigger::TimerSet>(&effect)) {
            timers_.add(run.name, timer->number, timer->timer.is_absolute, timer->timer.due,
                        commit_ + 1);
        } else if (const auto* sent = std::get_if<trigger::Sent>(&effect)) {
            follow(run, *sent);
        } else if (const auto* ended = std::get_if<trigger::Ended>(&effect)) {
            follow(run, *ended);
            if (!ended->is_swept) {
                drop_unsent(run);
            }
        } else if (const auto* renewed = std::get_if<trigger::Renewed>(&effect)) {
            follow(run, *renewed);
        } else if (const auto* replied = std::get_if<trigger::Replied>(&effect)) {
            follow(run, *replied);
        } else {
            drop_unsent(run); // A scope was closed, or a generation.
        }
    }
    if (run.state->has_work()) {
        ready_.insert(run.name);
    }
}

void Shard::drop_unsent(const AwakeRun& run) {
    std::erase_if(release_.calls, [&](const Call& call) {
        if (call.run != run.name) {
            return false;
        }
        auto task = run.state->tasks.find(call.key);
        return task == run.state->tasks.end() || !run.state->is_open(task->second);
    });
}

Call Shard::call_of(const AwakeRun& run, const trigger::TaskKey& key, trigger::TaskState task,
                    std::uint32_t attempt) {
    auto call = Call{.run = run.name,
                     .key = key,
                     .attempt = attempt,
                     .started = run.state->info.started,
                     .task = std::move(task)};
    const auto* label = run.state->info.labels.find(trigger::priority_label);
    if (label == nullptr || !label->is_string() || call.task.policy.find("priority") != nullptr) {
        return call;
    }
    auto priority = std::int64_t{0};
    auto text = label->as_string();
    std::from_chars(text.data(), text.data() + text.size(), priority);
    auto policy = call.task.policy.is_map() ? call.task.policy : Value::map({});
    call.task.policy = policy.with("priority", priority);
    return call;
}

Nanos Shard::retention_of(const AwakeRun& run) const {
    auto own = run.triggers->spec().retention;
    return own > Nanos{0} ? own : services_.retention;
}

void Shard::follow(AwakeRun& run, trigger::TaskOpened&& opened) {
    if (opened.task.kind != trigger::TaskKind::Run) {
        outbox_.add_call(run.name, opened.key);
    }
    if (opened.task.is_waiting) {
        return; // For its next attempt, which has a timer.
    }
    if (opened.task.kind != trigger::TaskKind::Run) {
        auto attempt = opened.task.attempt;
        release_.calls.push_back(call_of(run, opened.key, std::move(opened.task), attempt));
        return;
    }
    send_start(run, opened.key, opened.task);
}

void Shard::send_start(const AwakeRun& run, const trigger::TaskKey& key,
                       const trigger::TaskState& task) {
    auto child = RunName{.space = run.name.space, .id = task.child};
    auto info = trigger::RunInfo{.definition = task.target, .input = task.input};
    if (const auto* priority = run.state->info.labels.find(trigger::priority_label)) {
        info.labels = Value::object({{std::string{trigger::priority_label}, *priority}});
    }
    info.parent = trigger::Parent{
        .run = run.name.id, .fire = key.fire, .index = key.index, .attempt = task.attempt};
    outbox_.add_message(
        shard_of(child, services_.store.shard_count()),
        {.kind = Message::Kind::Start,
         .to = child,
         .info = std::move(info),
         .type = task.policy.find(adopt_word) == nullptr ? "" : std::string{adopt_word},
         .data = trace_below(run.name.id, key, task)});
}

void Shard::follow(AwakeRun& run, const trigger::TaskClosed& closed) {
    if (closed.kind != trigger::TaskKind::Run) {
        outbox_.close_call(run.name, closed.key);
        if (closed.is_cancelled) {
            std::erase_if(release_.calls, [&](const Call& call) {
                return call.run == run.name && call.key == closed.key;
            });
            release_.cancelled.emplace_back(run.name, closed.key);
        }
        return;
    }
    if (closed.is_cancelled) {
        auto child = RunName{.space = run.name.space, .id = closed.child};
        outbox_.add_message(shard_of(child, services_.store.shard_count()),
                            {.kind = Message::Kind::Command,
                             .to = child,
                             .type = std::string{trigger::types::run_cancel}});
    }
}

void Shard::follow(AwakeRun& run, const trigger::Sent& sent) {
    auto target = RunName{.space = run.name.space, .id = sent.target};
    outbox_.add_message(
        shard_of(target, services_.store.shard_count()),
        {.kind = Message::Kind::Event,
         .to = target,
         .json = sent.json,
         .from = run.name.id,
         .sender = {
             .run = run.name.id, .key = sent.key, .scope = sent.scope, .trigger = sent.trigger}});
}

void Shard::follow(AwakeRun& run, const trigger::Replied& replied) {
    if (!replied.to) {
        reply_ = replied.data;
        return;
    }
    auto target = RunName{.space = run.name.space, .id = replied.to->run};
    outbox_.add_message(shard_of(target, services_.store.shard_count()),
                        {.kind = Message::Kind::Reply,
                         .to = target,
                         .data = replied.data,
                         .from = run.name.id,
                         .sender = *replied.to});
}

/// History of the generations before follows retention.
void Shard::follow(AwakeRun& run, const trigger::Renewed& /*renewed*/) {
    run.needs_checkpoint = true;
}

void Shard::follow(AwakeRun& run, const trigger::Ended& ended) {
    if (const auto& parent = run.state->info.parent) {
        auto data = Value::object({{"run", run.name.id}});
        data = ended.status == trigger::Status::Succeeded ? data.with("result", ended.result)
                                                          : data.with("error", ended.error);
        tell_parent(run.name, *parent, ending_type(ended.status), std::move(data));
    }
    puts_.emplace_back(keys::expiry(id_, moment_.time + retention_of(run), run.name), "1");
    auto waiting = watchers_.find(run.name);
    if (waiting == watchers_.end()) {
        return;
    }
    auto ending = Value::object(
        {{"status", to_string(ended.status)}, {"result", ended.result}, {"error", ended.error}});
    for (auto& input : waiting->second) {
        answer_later(std::move(input.done), ending);
    }
    watchers_.erase(waiting);
}

} // namespace sluice::engine
