#include "workflow/asl/internal/test/state_trial.h"

#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/result.h"
#include "workflow/asl/internal/errors.h"

namespace sluice::workflow::asl::internal {

StateTrial::StateTrial(const StateTest& test, const Machine& machine, const State& state)
    : test_(test),
      machine_(machine),
      state_(state),
      context_(test.context ? *test.context : made_context(test, state)),
      variables_(test.variables) {
    note("input", test.input);
}

Sight StateTrial::sight_of(const Value& data) const {
    return {.data = &data,
            .input = &test_.input,
            .context = &context_,
            .variables = &variables_,
            .chance = test_.chance,
            .now = test_.now};
}

void StateTrial::note(std::string_view name, Value value) {
    seen_.push_back({std::string{name}, std::move(value)});
}

std::expected<std::variant<StateTestOutcome, NeededCall>, StateTestProblem> StateTrial::run() {
    auto done = [&]() -> Flow<void> {
        switch (state_.kind) {
            case Kind::Pass: return pass();
            case Kind::Choice: return choose();
            case Kind::Wait: return wait();
            case Kind::Succeed: return succeed();
            case Kind::Fail: return fail();
            case Kind::Task:
            case Kind::Parallel:
            case Kind::Map: break;
        }
        return work();
    }();
    if (problem_) {
        return std::unexpected(*std::move(problem_));
    }
    if (call_) {
        return *std::move(call_);
    }
    if (!done) {
        take(done.error());
    } else {
        outcome_.status = "SUCCEEDED";
    }
    if (next_) {
        outcome_.next_state = machine_.states[*next_].name;
    }
    show_variables();
    if (!error_details_.empty()) {
        note("errorDetails", Value::map(std::move(error_details_)));
    }
    outcome_.inspection = Value::map(std::move(seen_));
    return std::move(outcome_);
}

/// Those that the test gave, and what the state has assigned.
void StateTrial::show_variables() {
    auto all = variables_.all();
    for (const auto& [name, value] :
         assigned_.is_map() ? assigned_.as_map() : std::span<const value::Member>{}) {
        all = all.with(name, value);
    }
    if (all.size() > 0) {
        note("variables", std::move(all));
    }
}

Flow<Value> StateTrial::input_data() {
    if (is_jsonata()) {
        return test_.input;
    }
    auto data = TRY(apply_path(state_.input_path, sight_of(test_.input)));
    note("afterInputPath", data);
    return data;
}

Flow<void> StateTrial::assign(const std::optional<Template>& assign, const Sight& sight) {
    if (assign) {
        assigned_ = TRY(assign->evaluate(sight, "Assign"));
    }
    return {};
}

Flow<void> StateTrial::pass() {
    if (state_.result) { // Then nobody looks at what it was given.
        note("result", *state_.result);
        return complete(*state_.result);
    }
    auto data = TRY(input_data());
    if (is_jsonata()) {
        return complete(data);
    }
    if (state_.parameters) {
        data = TRY(state_.parameters->evaluate(sight_of(data), "Parameters"));
    }
    note("afterParameters", data);
    return complete(data);
}

/// `Output` or `OutputPath`, and `Assign`, of a state without a result of its own.
Flow<void> StateTrial::leave(const Value& result, const Sight& sight) {
    if (is_jsonata()) {
        outcome_.output = state_.output ? TRY(state_.output->evaluate(sight, "Output")) : result;
    } else {
        outcome_.output = TRY(apply_path(state_.output_path, sight_of(result)));
    }
    TRY(assign(state_.assign, sight));
    next_ = state_.next;
    return {};
}

Flow<void> StateTrial::succeed() {
    auto data = TRY(input_data());
    return leave(data, sight_of(data));
}

/// As long as it may take: here it is over at once.
Flow<void> StateTrial::wait() {
    auto data = TRY(input_data());
    TRY(read_wait(std::get<WaitState>(state_.details), sight_of(data)));
    return leave(data, sight_of(data));
}

Flow<void> StateTrial::choose() {
    auto data = TRY(input_data());
    auto sight = sight_of(data);
    const auto& choice = std::get<ChoiceState>(state_.details);
    for (auto at = std::size_t{0}; at < choice.rules.size(); ++at) {
        const auto& rule = choice.rules[at];
        if (!TRY(rule.condition.holds(sight, at))) {
            continue;
        }
        outcome_.output = rule.output    ? TRY(rule.output->evaluate(sight, "Output"))
                          : is_jsonata() ? data
                                         : TRY(apply_path(state_.output_path, sight));
        TRY(assign(rule.assign, sight));
        next_ = rule.next;
        return {};
    }
    if (!choice.otherwise) {
        return std::unexpected(no_choice_matched());
    }
    TRY(leave(data, sight));
    next_ = choice.otherwise;
    return {};
}

Flow<void> StateTrial::fail() {
    auto data = TRY(input_data());
    return std::unexpected(TRY(read_failure(std::get<FailState>(state_.details), sight_of(data))));
}

Flow<Value> StateTrial::begin_task() {
    auto data = TRY(input_data());
    auto sight = sight_of(data);
    const auto& task = std::get<TaskState>(state_.details);
    if (task.timeout_seconds.is_given()) {
        std::ignore = TRY(read_count(task.timeout_seconds, "TimeoutSeconds", sight));
    }
    if (task.heartbeat_seconds.is_given()) {
        std::ignore = TRY(read_count(task.heartbeat_seconds, "HeartbeatSeconds", sight));
    }
    if (state_.parameters) {
        data = TRY(state_.parameters->evaluate(sight, is_jsonata() ? "Arguments" : "Parameters"));
    }
    note(is_jsonata() ? "afterArguments" : "afterParameters", data);
    return data;
}

/// What its branches would begin with is computed, and not shown.
Flow<void> StateTrial::begin_parallel() {
    auto data = is_jsonata() ? Flow<Value>{test_.input}
                             : apply_path(state_.input_path, sight_of(test_.input));
    if (!data) {
        return std::unexpected(std::move(data.error()));
    }
    if (state_.parameters) {
        TRY(state_.parameters->evaluate(sight_of(*data),
                                        is_jsonata() ? "Arguments" : "Parameters"));
    }
    return {};
}

Flow<void> StateTrial::work() {
    if (state_.kind == Kind::Task) {
        auto arguments = TRY(begin_task());
        if (!test_.mock) {
            call_ = NeededCall{.resource = std::get<TaskState>(state_.details).resource,
                               .arguments = std::move(arguments)};
            return {};
        }
    } else {
        TRY(state_.kind == Kind::Map ? begin_map() : begin_parallel());
    }
    if (problem_) {
        return {};
    }
    if (const auto* error = std::get_if<TestMock::Error>(&test_.mock->outcome)) {
        return std::unexpected(Failure{.error = error->error, .cause = error->cause});
    }
    if (exceeds_tolerance()) {
        return std::unexpected(
            Failure{.error = "States.ExceedToleratedFailureThreshold",
                    .cause = "The specified tolerated failure threshold was exceeded"});
    }
    const auto& result = std::get<Value>(test_.mock->outcome);
    if (state_.kind == Kind::Task) {
        note("result", result);
    }
    return complete(result);
}

Flow<void> StateTrial::complete(const Value& result) {
    if (is_jsonata()) {
        auto sight = sight_of(test_.input);
        auto has_result =
            state_.kind == Kind::Task || state_.kind == Kind::Map || state_.kind == Kind::Parallel;
        sight.result = has_result ? &result : nullptr;
        return leave(result, sight);
    }
    auto selected = result;
    if (state_.result_selector) {
        selected = TRY(state_.result_selector->evaluate(sight_of(result), "ResultSelector"));
    }
    note("afterResultSelector", selected);
    TRY(assign(state_.assign, sight_of(selected)));
    auto whole = TRY(place_result(state_.result_path, test_.input, selected));
    note("afterResultPath", whole);
    outcome_.output = TRY(apply_path(state_.output_path, sight_of(whole)));
    next_ = state_.next;
    return {};
}

void StateTrial::take(const Failure& failure) {
    outcome_.status = "FAILED";
    outcome_.output.reset();
    outcome_.error = failure.error;
    outcome_.cause = failure.cause;
    next_.reset();
    if (state_.kind == Kind::Fail) {
        return;
    }
    if (auto at = find_retrier(state_.retry, failure)) {
        const auto& retrier = state_.retry[*at];
        error_details_.push_back({"retryIndex", static_cast<std::int64_t>(*at)});
        if (test_.retries < retrier.attempts_max) {
            outcome_.status = "RETRIABLE";
            auto seconds = static_cast<std::int64_t>(retry_seconds(retrier, test_.retries));
            error_details_.push_back({"retryBackoffIntervalSeconds", seconds});
            return;
        }
    }
    if (auto at = find_catcher(state_.catches, failure)) {
        error_details_.push_back({"catchIndex", static_cast<std::int64_t>(*at)});
        catch_with(state_.catches[*at], failure);
    }
}

void StateTrial::catch_with(const Catcher& catcher, const Failure& failure) {
    auto told = error_output(failure);
    auto sight = sight_of(is_jsonata() ? test_.input : told);
    sight.error_output = &told;
    auto output = !is_jsonata()    ? place_result(catcher.result_path, test_.input, told)
                  : catcher.output ? catcher.output->evaluate(sight, "Output")
                                   : Flow<Value>{told};
    auto assigned = output ? assign(catcher.assign, sight) : Flow<void>{};
    if (!output || !assigned) {
        const auto& again = output ? assigned.error() : output.error();
        outcome_.error = again.error;
        outcome_.cause = again.cause;
        return;
    }
    outcome_.status = "CAUGHT_ERROR";
    outcome_.output = *std::move(output);
    next_ = catcher.next;
}

} // namespace sluice::workflow::asl::internal
