#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "value/json.h"
#include "value/time_text.h"
#include "workflow/asl/internal/run/data_fields.h"
#include "workflow/asl/internal/run/walk.h"
#include "workflow/asl/internal/run/words.h"

namespace sluice::workflow::asl::internal {

namespace {

constexpr auto is_jsonata = [](const State& state) { return state.language == Language::Jsonata; };

/// Longer waits than this the service does not take.
constexpr auto wait_days_max = 24'855;

Failure runtime(std::string cause) {
    return {.error = std::string{errors::runtime}, .cause = std::move(cause)};
}

Failure evaluation(std::string cause, std::string location) {
    return {.error = std::string{errors::query_evaluation},
            .cause = std::move(cause),
            .location = std::move(location)};
}

std::string text_of(const Value& value) {
    return value.is_string() ? std::string{value.as_string()} : value::to_json(value);
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
        auto has_result = state.kind == Kind::Task || state.kind == Kind::Parallel ||
                          state.kind == Kind::Map;
        sight.result = has_result ? &result : nullptr;
        exit.output = state.output ? TRY(state.output->evaluate(sight, "Output")) : result;
        exit.assigned = TRY(assigned_by(visit, state.assign, sight)).value_or(Value{});
        return exit;
    }
    auto selected = state.result_selector
                        ? TRY(state.result_selector->evaluate(view.of(result), "ResultSelector"))
                        : result;
    exit.assigned = TRY(assigned_by(visit, state.assign, view.of(selected))).value_or(Value{});
    auto whole = TRY(put(state.result_path, visit.input, std::move(selected)));
    exit.output = TRY(select(state.output_path, view.of(whole)));
    return exit;
}

Step Walk::complete(Visit& visit, const Value& result) {
    auto exit = exit_of(visit, result);
    if (!exit) {
        return fault(visit, std::move(exit.error()));
    }
    if (exceeds(exit->output)) {
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
        auto found = select(state.input_path, view.of(visit.input));
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
    auto found = select(visit.state.input_path, view.of(visit.input));
    return found ? complete(visit, *found) : fault(visit, std::move(found.error()));
}

Step Walk::choose(Visit& visit) {
    const auto& state = visit.state;
    const auto& choice = std::get<ChoiceState>(state.details);
    auto view = View{*this, visit};
    auto data = is_jsonata(state) ? Evaluated<Value>{visit.input}
                                  : select(state.input_path, view.of(visit.input));
    if (!data) {
        return fault(visit, std::move(data.error()));
    }
    auto sight = view.of(*data);
    const auto* output = &state.output;
    const auto* assign = &state.assign;
    auto next = choice.otherwise;
    for (auto at = std::size_t{0}; at < choice.rules.size(); ++at) {
        const auto& rule = choice.rules[at];
        auto holds = rule.condition.holds(sight, fmt::format("Choices[{}]/Condition", at));
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
        return fail(visit, {.error = std::string{errors::no_choice},
                            .cause = fmt::format(
                                "Failed to transition out of the state '{}' (entered at the event "
                                "id #{}). No choice rule matched, and there is no Default.",
                                state.name, visit.entered)});
    }
    auto exit = Exit{};
    auto given = *output ? (*output)->evaluate(sight, "Output") : Evaluated<Value>{*data};
    auto assigned = assigned_by(visit, *assign, sight);
    if (given && !is_jsonata(state)) {
        given = select(state.output_path, view.of(*data));
    }
    if (!given || !assigned) {
        return fault(visit, std::move(given ? assigned.error() : given.error()));
    }
    exit.output = *std::move(given);
    exit.assigned = std::move(*assigned).value_or(Value{});
    return leave(visit, std::move(exit), next);
}

Step Walk::stop(Visit& visit) {
    const auto& fail_state = std::get<FailState>(visit.state.details);
    auto view = View{*this, visit};
    auto sight = view.of(visit.input);
    auto read = [&](const FailState::Text& text,
                    std::string_view name) -> Evaluated<std::optional<std::string>> {
        if (const auto* given = std::get_if<std::string>(&text)) {
            return *given;
        }
        if (const auto* path = std::get_if<Selector>(&text)) {
            return text_of(TRY(path->read_for(fmt::format("{}Path", name), sight)));
        }
        if (const auto* expression = std::get_if<Template>(&text)) {
            return text_of(TRY(expression->evaluate(sight, name)));
        }
        return std::nullopt;
    };
    auto error = read(fail_state.error, "Error");
    auto cause = read(fail_state.cause, "Cause");
    if (!error || !cause) {
        return fault(visit, std::move(error ? cause.error() : error.error()));
    }
    return Step::failed({.error = *std::move(error), .cause = *std::move(cause)});
}

namespace {

/// How long a Wait state waits.
struct Delay {
    Nanos after{0};
    std::optional<Time> until{};
};

Evaluated<Delay> delay_by_seconds(const State& state, const NumberField& field,
                                  const Sight& sight) {
    auto found = std::optional<Value>{};
    if (const auto* path = std::get_if<Selector>(&field.source)) {
        found = path->find(sight);
        if (!found) {
            return std::unexpected(
                runtime(fmt::format("The SecondsPath parameter does not reference an input value: {}",
                                    path->text())));
        }
        if (!found->is_int()) {
            return std::unexpected(runtime(
                fmt::format("The SecondsPath parameter cannot be parsed as a long value: {} == {}",
                            path->text(), text_of(*found))));
        }
        if (found->as_int() < 0) {
            return std::unexpected(
                runtime(fmt::format("The SecondsPath parameter references a negative value: {} == {}",
                                    path->text(), text_of(*found))));
        }
    } else {
        found = TRY(number(field, "Seconds", sight));
        auto is_whole = found->is_int() || (found->is_double() &&
                                            found->as_double() == static_cast<double>(static_cast<std::int64_t>(found->as_double())));
        if (!is_whole) {
            return std::unexpected(evaluation(
                fmt::format("The Seconds parameter of the state '{}' is no whole number: {}",
                            state.name, text_of(*found)),
                "Seconds"));
        }
        found = found->is_double() ? Value{static_cast<std::int64_t>(found->as_double())} : *found;
    }
    auto seconds = found->as_int();
    if (seconds > std::int64_t{wait_days_max} * 86'400 + 86'399) {
        return std::unexpected(runtime("Wait state delay is too long."));
    }
    return Delay{.after = std::chrono::seconds{std::max<std::int64_t>(seconds, 0)}};
}

} // namespace

Step Walk::wait(Visit& visit) {
    const auto& details = std::get<WaitState>(visit.state.details);
    auto view = View{*this, visit};
    auto data = is_jsonata(visit.state) ? Evaluated<Value>{visit.input}
                                        : select(visit.state.input_path, view.of(visit.input));
    if (!data) {
        return fault(visit, std::move(data.error()));
    }
    auto sight = view.of(*data);
    auto delay = details.seconds.is_given()
                     ? delay_by_seconds(visit.state, details.seconds, sight)
                     : Evaluated<Delay>{Delay{}};
    if (delay && !details.seconds.is_given()) {
        auto text = Evaluated<Value>{Value{}};
        auto name = std::string{"Timestamp"};
        if (const auto* given = std::get_if<std::string>(&details.timestamp)) {
            text = Value{*given};
        } else if (const auto* path = std::get_if<Selector>(&details.timestamp)) {
            text = path->read(sight);
            name = path->text();
        } else {
            text = std::get<Template>(details.timestamp).evaluate(sight, "Timestamp");
        }
        if (!text) {
            return fault(visit, std::move(text.error()));
        }
        auto time = text->is_string() ? value::parse_time(text->as_string())
                                      : Result<Time>{sluice::fail(Errc::InvalidInput, "no text")};
        if (!time) {
            delay = std::unexpected(
                is_jsonata(visit.state)
                    ? evaluation(fmt::format("The Timestamp field cannot be parsed as an ISO-8601 "
                                             "extended offset date-time format string: {}",
                                             text_of(*text)),
                                 "Timestamp")
                    : runtime(fmt::format("The TimestampPath parameter does not reference a valid "
                                          "ISO-8601 extended offset date-time format string: {} == {}",
                                          name, text_of(*text))));
        } else {
            delay->until = *time;
        }
    }
    if (!delay) {
        return fault(visit, std::move(delay.error()));
    }
    auto now = firing_.decider().moment().time;
    if (delay->until ? *delay->until <= now : delay->after <= Nanos{0}) {
        return complete(visit, *data);
    }
    open(visit.frame);
    if (delay->until) {
        auto timer = trigger::TimerState{.is_absolute = true};
        timer.due = *delay->until;
        visit.timer = set_timer(visit, std::move(timer), words::wait).raw();
    } else {
        visit.timer = set_timer(visit, delay->after, words::wait).raw();
    }
    store(visit, words::waiting);
    return {};
}

} // namespace sluice::workflow::asl::internal
