#include <utility>

#include <fmt/format.h>

#include "workflow/asl/internal/data_flow.h"
#include "workflow/asl/internal/errors.h"
#include "workflow/asl/internal/run/json_bytes.h"
#include "workflow/asl/internal/run/walk.h"
#include "workflow/asl/internal/run/words.h"

namespace sluice::workflow::asl::internal::run {

namespace {

/// `Error` and `Cause` as a catcher sees them: both are there.
Value caught_output(const Failure& failure) {
    auto is_timeout = failure.error == errors::timeout;
    return Value::object({{"Error", failure.error ? Value{*failure.error} : Value{}},
                          {"Cause", failure.cause ? Value{*failure.cause}
                                    : is_timeout  ? Value{""}
                                                  : Value{}}});
}

} // namespace

bool Walk::exceeds(const Value& value) const {
    return json_bytes(value, program_.limits.payload_bytes_max) > program_.limits.payload_bytes_max;
}

Step Walk::exceed(Visit& visit, std::string_view who) {
    auto failure =
        Failure{.error = std::string{errors::data_limit},
                .cause = fmt::format("The state/task '{}' returned a result with a size exceeding "
                                     "the maximum number of bytes service limit.",
                                     who)};
    return fail(visit, std::move(failure));
}

/// In the words of the service, and told in the history where it is an expression that failed.
Failure Walk::explained(Visit& visit, Failure failure) {
    auto& frame = visit.frame;
    failure.cause = cause_in_state(failure.cause.value_or(""), visit.state.name, visit.entered);
    if (!failure.is_of_evaluation()) {
        return failure;
    }
    // The service evaluates most fields before it notes that it has entered the state.
    auto is_early = frame.last == visit.entered && visit.state.kind != Kind::Wait;
    frame.last =
        tell(*frame.tally, "Evaluation", "Failed", is_early ? visit.before : frame.last, [&] {
            auto told = Value::object({{"error", *failure.error},
                                       {"cause", *failure.cause},
                                       {"state", visit.state.name}});
            return failure.location.empty() ? told : told.with("location", failure.location);
        });
    failure.location.clear();
    return failure;
}

Step Walk::fault(Visit& visit, Failure failure) {
    return fail(visit, explained(visit, std::move(failure)));
}

Step Walk::fail(Visit& visit, Failure failure) {
    const auto& state = visit.state;
    if (is_final(failure)) {
        return give_up(visit, std::move(failure));
    }
    if (auto at = is_ending_ ? std::nullopt : find_retrier(state.retry, failure)) {
        visit.tries.resize(state.retry.size());
        if (visit.tries[*at] < state.retry[*at].attempts_max) {
            return retry(visit, state.retry[*at], visit.tries[*at]++);
        }
    }
    auto& frame = visit.frame;
    if (state.kind == Kind::Map || state.kind == Kind::Parallel) {
        frame.last = tell(*frame.tally, name_of(state.kind), "StateFailed", frame.last,
                          [] { return Value{}; });
    }
    if (auto at = is_ending_ ? std::nullopt : find_catcher(state.catches, failure)) {
        return caught(visit, state.catches[*at], failure);
    }
    if (failure.error == heartbeat_timeout) {
        failure.error = std::string{errors::timeout};
    }
    return give_up(visit, std::move(failure));
}

Step Walk::retry(Visit& visit, const Retrier& retrier, std::uint32_t count) {
    ++visit.retries;
    open(visit.frame);
    auto delay = retry_delay(retrier, count, next_chance());
    visit.timer = set_timer(visit, delay, words::retry).raw();
    store(visit, words::retrying);
    return {};
}

Step Walk::caught(Visit& visit, const Catcher& catcher, const Failure& failure) {
    auto shown = failure;
    if (shown.error == heartbeat_timeout) {
        shown.error = std::string{errors::timeout};
    }
    auto output = caught_output(shown);
    auto view = View{*this, visit};
    auto is_jsonata = visit.state.language == Language::Jsonata;
    auto sight = view.of(is_jsonata ? visit.input : output);
    sight.error_output = &output;
    auto assigned = assigned_by(visit, catcher.assign, sight);
    auto given = is_jsonata ? catcher.output ? catcher.output->evaluate(sight, "Output")
                                             : Evaluated<Value>{output}
                            : place_result(catcher.result_path, visit.input, output);
    if (!assigned || !given) {
        return give_up(visit,
                       explained(visit, std::move(given ? assigned.error() : given.error())));
    }
    return leave(visit,
                 {.output = *std::move(given), .assigned = std::move(*assigned).value_or(Value{})},
                 catcher.next);
}

} // namespace sluice::workflow::asl::internal::run
