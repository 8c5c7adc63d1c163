#include "workflow/asl/internal/run/walk.h"

#include <utility>

#include <fmt/format.h>

#include "base/fingerprint.h"
#include "trigger/arrival.h"
#include "value/json.h"
#include "workflow/asl/internal/errors.h"
#include "workflow/asl/internal/run/words.h"

namespace sluice::workflow::asl::internal::run {

namespace {

// States gone through in one decision: beyond, other runs of the shard have their turn.
constexpr auto states_per_slice_max = std::uint64_t{2'048};

/// Variables are told as JSON texts.
Value with_assigned(const Value& told, const Value& assigned) {
    auto texts = std::vector<value::Member>{};
    for (const auto& [name, variable] : assigned.as_map()) {
        texts.push_back({name, value::to_json(variable)});
    }
    return told.with("assignedVariables", Value::map(std::move(texts)))
        .with("assignedVariablesDetails", Value::object({{"truncated", false}}));
}

} // namespace

std::string_view name_of(Kind kind) {
    switch (kind) {
        case Kind::Pass: return "Pass";
        case Kind::Choice: return "Choice";
        case Kind::Wait: return "Wait";
        case Kind::Succeed: return "Succeed";
        case Kind::Fail: return "Fail";
        case Kind::Task: return "Task";
        case Kind::Parallel: return "Parallel";
        case Kind::Map: return "Map";
    }
    return "";
}

Walk::Walk(trigger::Firing& firing, const Program& program)
    : firing_(firing), program_(program), listener_(firing.decider().listener()) {}

Walk::View::View(Walk& walk, const Visit& visit, const Value* item)
    : walk_(walk),
      visit_(visit),
      variables_(visit.frame),
      context_(walk.program_, walk.state(), visit, item) {}

Sight Walk::View::of(const Value& data) const {
    auto sight = Sight{};
    sight.data = &data;
    sight.input = &visit_.input;
    sight.context = &context_;
    sight.variables = &variables_;
    sight.chance = walk_.next_chance();
    sight.now = walk_.firing_.decider().moment().time;
    return sight;
}

std::uint64_t Walk::next_chance() {
    return hash64(state().id, (state().progress.events << 16U) + ++chances_);
}

void Walk::hear(const Tally& tally, std::uint64_t previous, std::string_view kind,
                std::string_view type, Value details) const {
    auto told = Value::object({{"id", as_value(tally.events)},
                               {"previousEventId", as_value(previous)},
                               {"type", fmt::format("{}{}", kind, type)}});
    if (!details.is_null()) {
        told = told.with("details", std::move(details));
    }
    if (tally.is_of_child) {
        told = told.with("execution", tally.name);
    }
    listener_->hear(firing_.decider().moment(), told);
}

void Walk::start() {
    auto& frame = load_frame(trigger::root_scope, 0);
    const auto& input = state().info.input;
    tell(*frame.tally, "Execution", "Started", 0,
         [&] { return Value::object({{"input", input}}); });
    conclude(&frame,
             {.kind = Step::Kind::Next, .next = machine().flows.front().start, .output = input});
    finish();
}

void Walk::take(StateNumber number) {
    auto scope = firing_.scope();
    if (state().path_of(scope) == nullptr) {
        return;
    }
    auto& frame = load_frame(scope, machine().states[number].flow);
    const auto& event = firing_.event();
    if (event.type() == words::entered) {
        auto data = event.data();
        frame.last = count_at(data, "last");
        conclude(&frame, go(frame, number, *data.find("input"), true));
        finish();
        return;
    }
    const auto& memory = memory_of(scope, trigger::TriggerNumber{number});
    if (!memory.is_map()) {
        return; // It has gone on meanwhile.
    }
    auto visit = Visit{machine(), number, frame};
    visit.restore(memory);
    auto purpose = event.type() == trigger::types::timer_fired ? event.data() : Value{};
    auto is_fan = visit.state.kind == Kind::Map || visit.state.kind == Kind::Parallel;
    if (is_fan && purpose != Value{words::retry} &&
        *memory.find("status") == Value{words::retrying}) {
        return; // It was meant for children that are gone.
    }
    auto step = Step{};
    if (purpose.is_null() && visit.state.kind == Kind::Map) {
        step = take_page(visit);
    } else if (purpose.is_null()) {
        step = take_answer(visit);
    } else if (purpose == Value{words::resume} && *memory.find("status") == Value{words::ready}) {
        forget(visit);
        frame.last = visit.before;
        step = go(frame, number, visit.input);
    } else if (purpose == Value{words::resume}) {
        auto fan = Fan{visit};
        load_fan(fan);
        step = run_children(fan);
    } else if (purpose == Value{words::retry}) {
        visit.timer = 0;
        step = is_full(*frame.tally) ? give_up(visit, full_history()) : perform(visit);
    } else if (purpose == Value{words::wait}) {
        visit.timer = 0;
        step = complete(visit, visit.input);
    } else {
        step = time_out(visit,
                        purpose == Value{words::heartbeat} ? heartbeat_timeout : errors::timeout);
    }
    conclude(&frame, std::move(step));
    finish();
}

void Walk::conclude(Frame* frame, Step step) {
    while (true) {
        if (step.kind == Step::Kind::Next) {
            step = go(*frame, step.next, std::move(step.output));
        }
        if (step.kind == Step::Kind::Waiting) {
            return;
        }
        if (frame->outer == nullptr) {
            end_run(step);
            return;
        }
        step = hand_over(*frame, std::move(step));
        frame = frame->outer;
    }
}

void Walk::end_run(const Step& step) {
    auto& frame = load_frame(trigger::root_scope, 0);
    if (step.kind == Step::Kind::Ended) {
        tell(*frame.tally, "Execution", "Succeeded", frame.last,
             [&] { return Value::object({{"output", step.output}}); });
        firing_.decider().end_run(trigger::Status::Succeeded, step.output, {});
        return;
    }
    const auto& [error, cause, location] = step.failure;
    auto told = Value{};
    if (cause) {
        told = told.with("cause", *cause);
    }
    if (error) {
        told = told.with("error", *error);
    }
    tell(*frame.tally, "Execution", "Failed", frame.last, [&] { return told; });
    auto memory = Value::object({{"events", as_value(frame.tally->events)}});
    if (!failed_at_.is_null()) {
        memory = memory.with("failed", failed_at_);
    }
    firing_.record(trigger::Remembered{.scope = trigger::root_scope,
                                       .trigger = program_.machine_trigger(),
                                       .memory = std::move(memory)});
    auto ended =
        Value::object({{"kind", error.value_or("failed")}, {"message", cause.value_or("")}});
    for (const auto* name : {"error", "cause"}) {
        if (const auto* found = told.find(name)) {
            ended = ended.with(name, *found);
        }
    }
    firing_.decider().end_run(trigger::Status::Failed, {}, std::move(ended));
}

/// How many events there are is remembered where the execution goes on.
void Walk::finish() {
    for (auto& tally : tallies_) {
        if (tally.has_changed && !state().is_over() && state().path_of(tally.scope) != nullptr) {
            firing_.record(trigger::Remembered{.scope = tally.scope,
                                               .trigger = program_.machine_trigger(),
                                               .memory = tally.to_memory()});
        }
    }
}

bool Walk::is_spent() const {
    return spent_ >= states_per_slice_max;
}

/// Whether the state may be gone into without an event: nobody has disabled or intercepted it.
bool Walk::is_open(const Frame& frame, StateNumber number) const {
    auto trigger = trigger::TriggerNumber{number};
    const auto& triggers = firing_.decider().triggers();
    if (triggers.has_interceptors() && !triggers.interceptors_of(trigger).empty()) {
        return false;
    }
    const auto* spec = triggers.get(trigger);
    const auto* remembered = frame.scope ? state().find_trigger(*frame.scope, trigger) : nullptr;
    auto enabled = remembered == nullptr ? trigger::Switch::AsWritten : remembered->enabled;
    return spec != nullptr &&
           (enabled == trigger::Switch::AsWritten ? spec->spec.is_enabled
                                                  : enabled == trigger::Switch::On);
}

Step Walk::go(Frame& frame, StateNumber number, Value input, bool is_let_in) {
    while (true) {
        if (is_full(*frame.tally)) {
            return Step::failed(full_history());
        }
        if (is_spent()) {
            return pause(frame, number, std::move(input));
        }
        if (!is_let_in && !is_open(frame, number)) {
            return knock(frame, number, input);
        }
        is_let_in = false;
        ++spent_;
        auto visit = Visit{machine(), number, frame};
        visit.input = std::move(input);
        enter(visit);
        auto step = perform(visit);
        if (step.kind != Step::Kind::Next) {
            return step;
        }
        number = step.next;
        input = std::move(step.output);
    }
}

bool Walk::is_full(const Tally& tally) const {
    auto most = program_.limits.events_max;
    return most > 0 && tally.events + 1 >= most;
}

Failure Walk::full_history() const {
    return {.error = std::string{errors::runtime},
            .cause = fmt::format("The execution reached the maximum number of history events ({}).",
                                 program_.limits.events_max)};
}

/// Goes on in another slice, when others have had their turn.
Step Walk::pause(Frame& frame, StateNumber number, Value input) {
    auto visit = Visit{machine(), number, frame};
    visit.input = std::move(input);
    visit.before = frame.last;
    visit.at = firing_.decider().moment().time;
    open(frame);
    visit.timer = set_timer(visit, Nanos{0}, words::resume).raw();
    store(visit, words::ready);
    return {};
}

/// Its trigger takes the event when it may, or whoever stands in for it.
Step Walk::knock(Frame& frame, StateNumber number, const Value& input) {
    auto scope = open(frame);
    firing_.emit({.type = std::string{words::entered},
                  .subject = handle_of(machine(), number),
                  .data = Value::object({{"input", input}, {"last", as_value(frame.last)}}),
                  .scope = path_of(scope)},
                 scope);
    return {};
}

Step Walk::perform(Visit& visit) {
    switch (visit.state.kind) {
        case Kind::Pass: return pass(visit);
        case Kind::Choice: return choose(visit);
        case Kind::Wait: return wait(visit);
        case Kind::Succeed: return succeed(visit);
        case Kind::Fail: return stop(visit);
        case Kind::Task: return begin_task(visit);
        case Kind::Parallel: return begin_parallel(visit);
        case Kind::Map: return begin_map(visit);
    }
    return {};
}

void Walk::enter(Visit& visit) {
    auto& frame = visit.frame;
    visit.before = frame.last;
    visit.at = firing_.decider().moment().time;
    visit.entered = tell(*frame.tally, name_of(visit.state.kind), "StateEntered", frame.last, [&] {
        return Value::object({{"name", visit.state.name}, {"input", visit.input}});
    });
    frame.last = visit.entered;
}

Step Walk::leave(Visit& visit, Exit exit, std::optional<StateNumber> next) {
    auto& frame = visit.frame;
    frame.last = tell(*frame.tally, name_of(visit.state.kind), "StateExited", frame.last, [&] {
        auto told = Value::object({{"name", visit.state.name}, {"output", exit.output}});
        return exit.assigned.is_map() && exit.assigned.size() > 0
                   ? with_assigned(told, exit.assigned)
                   : told;
    });
    forget(visit);
    if (exit.assigned.is_map()) {
        assign(frame, exit.assigned);
    }
    return {.kind = next ? Step::Kind::Next : Step::Kind::Ended,
            .next = next.value_or(0),
            .output = std::move(exit.output)};
}

} // namespace sluice::workflow::asl::internal::run
