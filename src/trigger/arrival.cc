#include "trigger/arrival.h"

#include <utility>

#include <fmt/format.h>

#include "base/invariant.h"
#include "event/builder.h"
#include "event/trace.h"
#include "trigger/state_image.h"

namespace sluice::trigger {

namespace {

constexpr auto source_prefix = std::string_view{"/runs/"};

std::string source_of(const RunState& state) {
    return std::string{source_prefix}.append(state.id);
}

event::Builder builder(const RunState& state, std::string_view id, std::string_view type,
                       Moment moment) {
    auto made = event::Builder{id, source_of(state), type};
    made.run(state.id).time(moment.time);
    return made;
}

void put_in_scope(event::Builder& made, const RunState& state, Incarnation scope) {
    if (const auto* path = state.path_of(scope); path != nullptr && !path->empty()) {
        made.scope(*path);
    }
}

Arrival answered(const RunState& state, const TaskKey& key, std::uint32_t attempt,
                 std::string_view type, Value data, Moment moment) {
    auto id = fmt::format("{}/{}/{}", key.fire.raw(), key.index, attempt);
    auto made = builder(state, id, type, moment);
    if (auto task = state.tasks.find(key); task != state.tasks.end()) {
        made.subject(task->second.subject);
        put_in_scope(made, state, task->second.scope);
        const auto* trace = task->second.policy.find("traceparent");
        if (trace != nullptr && trace->is_string()) {
            auto call = fmt::format("{}/{}/{}", state.id, key.fire.raw(), key.index);
            made.attribute("traceparent", event::trace_under(trace->as_string(), call));
        }
    }
    made.data(data);
    return {.origin = Origin::Task,
            .event = made.build(),
            .moment = moment,
            .refs = {key.fire.raw(), key.index, attempt, 0}};
}

/// Zero: no other attempt.
std::uint64_t ref_of(std::optional<Nanos> retry_after) {
    return retry_after ? static_cast<std::uint64_t>(retry_after->count()) + 1 : 0;
}

std::array<std::uint64_t, 4> refs_of(const Sender& sender) {
    return {sender.key.fire.raw(), sender.key.index, sender.scope.raw(), sender.trigger.raw()};
}

/// What comes back to the run that sent an event, into the scope it was sent from.
Arrival returned(const RunState& state, const Sender& sent_as, std::string_view kind,
                 std::string_view type, std::string_view target, const Value& data, Moment moment) {
    auto id = fmt::format("{}/{}/{}", kind, sent_as.key.fire.raw(), sent_as.key.index);
    auto made = builder(state, id, type, moment);
    put_in_scope(made, state, sent_as.scope);
    made.subject(target).data(data);
    return {.origin = Origin::Returned,
            .event = made.build(),
            .moment = moment,
            .refs = refs_of(sent_as)};
}

} // namespace

std::string_view to_string(Origin origin) {
    switch (origin) {
        case Origin::Outside: return "outside";
        case Origin::Own: return "own";
        case Origin::Task: return "task";
        case Origin::Timer: return "timer";
        case Origin::Command: return "command";
        case Origin::Kept: return "kept";
        case Origin::Continue: return "continue";
        case Origin::Sweep: return "sweep";
        case Origin::Run: return "run";
        case Origin::Returned: return "returned";
    }
    return "unknown";
}

Arrival start_arrival(const RunState& state, RunInfo info, Value context, Moment moment,
                      std::string_view trace) {
    auto made =
        builder(state, fmt::format("start/{}", info.generation), types::run_started, moment);
    made.data(Value::object({{"input", info.input}, {"definition", info.definition}}));
    if (!trace.empty()) {
        made.attribute("traceparent", trace);
    }
    return {.origin = Origin::Command,
            .event = made.build(),
            .moment = moment,
            .start = Began{.info = std::move(info), .context = std::move(context)}};
}

Arrival renew_arrival(const RunState& state, Moment moment) {
    auto info = state.info;
    info.input = state.progress.renewal->input;
    ++info.generation;
    auto arrival = start_arrival(state, info, {}, moment);
    arrival.start.reset();
    arrival.renewal =
        Renewed{.generation = info.generation, .image = encode_next_generation(state)};
    return arrival;
}

Arrival fork_arrival(const RunState& state, Forked fork, Moment moment) {
    fork.steady = moment.steady;
    auto made = builder(state, "fork", types::run_forked, moment);
    made.data(Value::object({{"from", fork.from}}));
    return {.origin = Origin::Command,
            .event = made.build(),
            .moment = moment,
            .fork = std::move(fork)};
}

Value adoption(const Parent& parent) {
    auto number = [](std::uint64_t value) { return Value{static_cast<std::int64_t>(value)}; };
    return Value::object({{"parent", Value::object({{"run", parent.run},
                                                    {"fire", number(parent.fire.raw())},
                                                    {"index", number(parent.index)},
                                                    {"attempt", number(parent.attempt)}})}});
}

Arrival command_arrival(const RunState& state, std::string_view type, const Value& data,
                        Moment moment) {
    auto id = fmt::format("command/{}", state.progress.events + 1);
    auto made = builder(state, id, type, moment);
    made.data(data);
    return {.origin = Origin::Command, .event = made.build(), .moment = moment};
}

Arrival task_arrival(const RunState& state, const TaskKey& key, std::uint32_t attempt,
                     const event::Answer& answer, std::optional<Nanos> retry_after, Moment moment) {
    auto task = state.tasks.find(key);
    auto target = task == state.tasks.end() ? std::string{} : task->second.target;
    auto id = fmt::format("{}/{}/{}", state.id, key.fire.raw(), key.index);
    auto data = Value::object({{"task", id},
                               {"function", target},
                               {"index", static_cast<std::int64_t>(key.index)},
                               {"attempt", static_cast<std::int64_t>(attempt)}});
    if (answer.is_success) {
        data = data.with("result", answer.result);
    } else {
        auto error =
            Value::object({{"kind", answer.error_kind}, {"message", answer.error_message}});
        data = data.with("error", answer.error_detail.is_null()
                                      ? error
                                      : error.with("detail", answer.error_detail));
    }
    auto is_sink = task != state.tasks.end() && task->second.kind == TaskKind::Sink;
    auto failed = is_sink ? types::delivery_failed : types::task_failed;
    auto type = answer.is_success ? types::task_succeeded : failed;
    auto arrival = answered(state, key, attempt, type, data, moment);
    arrival.refs[3] = ref_of(retry_after);
    return arrival;
}

Arrival child_arrival(const RunState& state, const TaskKey& key, std::uint32_t attempt,
                      std::string_view type, const Value& data, Moment moment,
                      std::optional<Nanos> retry_after) {
    auto arrival = answered(state, key, attempt, type, data, moment);
    arrival.refs[3] = ref_of(retry_after);
    return arrival;
}

Arrival sent_arrival(event::Event event, const Sender& sender, Moment moment) {
    return {.origin = Origin::Run,
            .event = std::move(event),
            .moment = moment,
            .refs = refs_of(sender)};
}

Sender sender_of(const Arrival& arrival) {
    auto source = arrival.event.source();
    INVARIANT(source.starts_with(source_prefix), "what a run sends has it as its source");
    return {.run = std::string{source.substr(source_prefix.size())},
            .key = {.fire = FireNumber{arrival.refs[0]}, .index = arrival.refs[1]},
            .scope = Incarnation{arrival.refs[2]},
            .trigger = TriggerNumber{static_cast<std::uint32_t>(arrival.refs[3])}};
}

Arrival undelivered_arrival(const RunState& state, const Sender& sent_as, std::string_view target,
                            const Value& data, Moment moment) {
    return returned(state, sent_as, "delivery", types::delivery_failed, target, data, moment);
}

bool is_place_answer(const Arrival& arrival) {
    return arrival.origin == Origin::Returned && arrival.refs[3] == place_trigger.raw();
}

Arrival reply_arrival(const RunState& state, const Sender& sent_as, std::string_view target,
                      const Value& data, Moment moment) {
    return returned(state, sent_as, "reply", types::reply, target, data, moment);
}

Arrival timer_arrival(const RunState& state, TimerNumber number, Moment moment) {
    const auto& timer = state.timers.at(number);
    auto id = fmt::format("timer/{}/{}", number.raw(), timer.occurrence);
    auto type = timer.type.empty() ? types::timer_fired : std::string_view{timer.type};
    auto made = builder(state, id, type, moment);
    if (!timer.subject.empty()) {
        made.subject(timer.subject);
    }
    put_in_scope(made, state, timer.scope);
    if (!timer.data.is_null()) {
        made.data(timer.data);
    }
    return {.origin = Origin::Timer,
            .event = made.build(),
            .moment = moment,
            .refs = {number.raw(), timer.occurrence, 0, 0}};
}

Arrival sweep_arrival(const RunState& state, Moment moment) {
    auto id = fmt::format("sweep/{}", state.progress.events + 1);
    return {.origin = Origin::Sweep,
            .event = builder(state, id, types::sweep, moment).build(),
            .moment = moment};
}

Arrival continue_arrival(const RunState& state, std::uint64_t number, Moment moment) {
    auto next = state.continuation_next.at(number);
    auto id = fmt::format("continue/{}/{}", number, next);
    auto made = builder(state, id, types::continued, moment);
    return {.origin = Origin::Continue,
            .event = made.build(),
            .moment = moment,
            .refs = {number, next, 0, 0}};
}

} // namespace sluice::trigger
