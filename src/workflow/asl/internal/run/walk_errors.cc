#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/random.h"
#include "workflow/asl/internal/run/data_fields.h"
#include "workflow/asl/internal/run/walk.h"
#include "workflow/asl/internal/run/words.h"

namespace sluice::workflow::asl::internal {

namespace {

/// Whether a name in `ErrorEquals` stands for an error. "States.Runtime" is never asked for.
bool names(std::string_view name, std::string_view error) {
    if (name == error || name == errors::all) {
        return true;
    }
    if (name == errors::timeout) {
        return error == errors::heartbeat_timeout;
    }
    return name == errors::task_failed && error != errors::timeout &&
           error != errors::heartbeat_timeout;
}

bool matches(const std::vector<std::string>& given, std::string_view error) {
    return std::ranges::any_of(given, [&](const auto& name) { return names(name, error); });
}

/// `Error` and `Cause` as a catcher sees them.
Value error_output(const Failure& failure) {
    auto is_timeout = failure.error == errors::timeout;
    return Value::object({{"Error", failure.error ? Value{*failure.error} : Value{}},
                          {"Cause", failure.cause  ? Value{*failure.cause}
                                    : is_timeout ? Value{""}
                                                 : Value{}}});
}

} // namespace

bool Walk::exceeds(const Value& value) const {
    return json_bytes(value, program_.limits.payload_bytes_max) >
           program_.limits.payload_bytes_max;
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
    failure.cause =
        fmt::format("An error occurred while executing the state '{}' (entered at the event id "
                    "#{}). {}",
                    visit.state.name, visit.entered, failure.cause.value_or(""));
    if (failure.error != errors::query_evaluation) {
        return failure;
    }
    // The service evaluates most fields before it notes that it has entered the state.
    auto is_early = frame.last == visit.entered && visit.state.kind != Kind::Wait;
    frame.last = tell(*frame.tally, "Evaluation", "Failed",
                      is_early ? visit.before : frame.last, [&] {
                          auto told = Value::object({{"error", *failure.error},
                                                     {"cause", *failure.cause},
                                                     {"state", visit.state.name}});
                          return failure.location.empty() ? told
                                                          : told.with("location", failure.location);
                      });
    failure.location.clear();
    return failure;
}

Step Walk::fault(Visit& visit, Failure failure) {
    return fail(visit, explained(visit, std::move(failure)));
}

Step Walk::fail(Visit& visit, Failure failure) {
    const auto& state = visit.state;
    auto error = std::string_view{failure.error ? std::string_view{*failure.error} : ""};
    if (error == errors::runtime) {
        return Step::failed(std::move(failure));
    }
    for (auto at = std::size_t{0}; at < state.retry.size(); ++at) {
        if (matches(state.retry[at].errors, error)) {
            visit.tries.resize(state.retry.size());
            if (visit.tries[at] < state.retry[at].attempts_max) {
                return retry(visit, state.retry[at], ++visit.tries[at]);
            }
            break; // The first that matches decides.
        }
    }
    auto& frame = visit.frame;
    if (state.kind == Kind::Map || state.kind == Kind::Parallel) {
        frame.last = tell(*frame.tally, name_of(state.kind), "StateFailed", frame.last,
                          [] { return Value{}; });
    }
    for (const auto& catcher : state.catches) {
        if (matches(catcher.errors, error)) {
            return caught(visit, catcher, failure);
        }
    }
    forget(visit);
    if (failure.error == errors::heartbeat_timeout) {
        failure.error = std::string{errors::timeout};
    }
    return Step::failed(std::move(failure));
}

Step Walk::retry(Visit& visit, const Retrier& retrier, std::uint32_t count) {
    auto seconds =
        retrier.interval_seconds * std::pow(retrier.backoff_rate, static_cast<double>(count - 1));
    seconds = std::min(seconds, static_cast<double>(retrier.delay_seconds_max.value_or(99'999'999)));
    if (retrier.has_full_jitter) {
        seconds *= Random{next_chance()}.unit();
    }
    ++visit.retries;
    open(visit.frame);
    auto delay = std::chrono::duration_cast<Nanos>(std::chrono::duration<double>{seconds});
    visit.timer = set_timer(visit, delay, words::retry).raw();
    store(visit, words::retrying);
    return {};
}

Step Walk::caught(Visit& visit, const Catcher& catcher, const Failure& failure) {
    auto shown = failure;
    if (shown.error == errors::heartbeat_timeout) {
        shown.error = std::string{errors::timeout};
    }
    auto output = error_output(shown);
    auto view = View{*this, visit};
    auto is_jsonata = visit.state.language == Language::Jsonata;
    auto sight = view.of(is_jsonata ? visit.input : output);
    sight.error_output = &output;
    auto assigned = assigned_by(visit, catcher.assign, sight);
    auto given = is_jsonata ? catcher.output ? catcher.output->evaluate(sight, "Output")
                                             : Evaluated<Value>{output}
                            : put(catcher.result_path, visit.input, output);
    if (!assigned || !given) {
        auto again = explained(visit, std::move(given ? assigned.error() : given.error()));
        forget(visit);
        return Step::failed(std::move(again));
    }
    return leave(visit, {.output = *std::move(given),
                         .assigned = std::move(*assigned).value_or(Value{})},
                 catcher.next);
}

} // namespace sluice::workflow::asl::internal
