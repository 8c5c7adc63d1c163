#include <utility>

#include <fmt/format.h>

#include "workflow/asl/internal/data_flow.h"
#include "workflow/asl/internal/run/walk.h"
#include "workflow/asl/internal/run/words.h"

namespace sluice::workflow::asl::internal::run {

namespace {

constexpr auto is_jsonata = [](const State& state) { return state.language == Language::Jsonata; };

/// Whether its output may be larger than what came in: otherwise nobody measures it.
bool makes_more(const State& state) {
    return state.result || state.parameters || state.output || state.result_selector ||
           state.kind == Kind::Task || state.kind == Kind::Map || state.kind == Kind::Parallel;
}

} // namespace

Evaluated<std::optional<Value>> Walk::assigned_by(const Visit& /*visit*/,
                                                  const std::optional<Template>& assign,
                                                  const Sight& sight) {
    if (!assign) {
        return std::nullopt;
    }
    return assign->evaluate(sight, "Assign");
}

/// Where the work of a state has given a result.
Evaluated<Exit> Walk::exit_of(Visit& visit, const Value& result) {
    const auto& state = visit.state;
    auto view = View{*this, visit};
    auto exit = Exit{};
    if (is_jsonata(state)) {
        auto sight = view.of(visit.input);
        auto has_result =
            state.kind == Kind::Task || state.kind == Kind::Parallel || state.kind == Kind::Map;
        sight.result = has_result ? &result : nullptr;
        exit.output = state.output ? TRY(state.output->evaluate(sight, "Output")) : result;
        exit.assigned = TRY(assigned_by(visit, state.assign, sight)).value_or(Value{});
        return exit;
    }
    auto selected = state.result_selector
                        ? TRY(state.result_selector->evaluate(view.of(result), "ResultSelector"))
                        : result;
    exit.assigned = TRY(assigned_by(visit, state.assign, view.of(selected))).value_or(Value{});
    auto whole = TRY(place_result(state.result_path, visit.input, std::move(selected)));
    exit.output = TRY(apply_path(state.output_path, view.of(whole)));
    return exit;
}

Step Walk::complete(Visit& visit, const Value& result) {
    auto exit = exit_of(visit, result);
    if (!exit) {
        return fault(visit, std::move(exit.error()));
    }
    if (makes_more(visit.state) && exceeds(exit->output)) {
        return exceed(visit, visit.state.name);
    }
    return leave(visit, *std::move(exit), visit.state.next);
}

Step Walk::pass(Visit& visit) {
    const auto& state = visit.state;
    auto result = Value{};
    if (is_jsonata(state)) {
        result = visit.input;
    } else if (state.input_path.path || state.input_path.is_null || state.parameters) {
        auto view = View{*this, visit};
        auto found = apply_path(state.input_path, view.of(visit.input));
        if (found && state.parameters) {
            found = state.parameters->evaluate(view.of(*found), "Parameters");
        }
        if (!found) {
            return fault(visit, std::move(found.error()));
        }
        result = *std::move(found);
    } else {
        result = visit.input;
    }
    return complete(visit, state.result ? *state.result : result);
}

Step Walk::succeed(Visit& visit) {
    if (is_jsonata(visit.state)) {
        return complete(visit, visit.input);
    }
    auto view = View{*this, visit};
    auto found = apply_path(visit.state.input_path, view.of(visit.input));
    return found ? complete(visit, *found) : fault(visit, std::move(found.error()));
}

Step Walk::choose(Visit& visit) {
    const auto& state = visit.state;
    const auto& choice = std::get<ChoiceState>(state.details);
    auto view = View{*this, visit};
    auto data = is_jsonata(state) ? Evaluated<Value>{visit.input}
                                  : apply_path(state.input_path, view.of(visit.input));
    if (!data) {
        return fault(visit, std::move(data.error()));
    }
    auto sight = view.of(*data);
    const auto* output = &state.output;
    const auto* assign = &state.assign;
    auto next = choice.otherwise;
    for (auto at = std::size_t{0}; at < choice.rules.size(); ++at) {
        const auto& rule = choice.rules[at];
        auto holds = rule.condition.holds(sight, at);
        if (!holds) {
            return fault(visit, std::move(holds.error()));
        }
        if (*holds) {
            output = &rule.output;
            assign = &rule.assign;
            next = rule.next;
            break;
        }
    }
    if (!next) {
        return fault(visit, no_choice_matched());
    }
    auto exit = Exit{};
    auto given = *output ? (*output)->evaluate(sight, "Output") : Evaluated<Value>{*data};
    auto assigned = assigned_by(visit, *assign, sight);
    if (given && !is_jsonata(state)) {
        given = apply_path(state.output_path, view.of(*data));
    }
    if (!given || !assigned) {
        return fault(visit, std::move(given ? assigned.error() : given.error()));
    }
    exit.output = *std::move(given);
    exit.assigned = std::move(*assigned).value_or(Value{});
    return leave(visit, std::move(exit), next);
}

Step Walk::stop(Visit& visit) {
    auto view = View{*this, visit};
    auto failure = read_failure(std::get<FailState>(visit.state.details), view.of(visit.input));
    return failure ? give_up(visit, *std::move(failure)) : fault(visit, std::move(failure.error()));
}

Step Walk::wait(Visit& visit) {
    const auto& details = std::get<WaitState>(visit.state.details);
    auto view = View{*this, visit};
    auto data = is_jsonata(visit.state) ? Evaluated<Value>{visit.input}
                                        : apply_path(visit.state.input_path, view.of(visit.input));
    if (!data) {
        return fault(visit, std::move(data.error()));
    }
    auto until = read_wait(details, view.of(*data));
    if (!until) {
        return fault(visit, std::move(until.error()));
    }
    auto now = firing_.decider().moment().time;
    if (*until <= now) {
        return complete(visit, *data);
    }
    open(visit.frame);
    if (details.seconds.is_given()) {
        visit.timer = set_timer(visit, *until - now, words::wait).raw();
    } else {
        auto timer = trigger::TimerState{.is_absolute = true};
        timer.due = *until;
        visit.timer = set_timer(visit, std::move(timer), words::wait).raw();
    }
    store(visit, words::waiting);
    return {};
}

} // namespace sluice::workflow::asl::internal::run
