#include "workflow/asl/internal/errors.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/random.h"

namespace sluice::workflow::asl::internal {
namespace {

using expr::states::Failure;

constexpr auto retry_seconds_max = 99'999'999.0;

bool matches_name(std::string_view name, std::string_view error) {
    if (name == error || name == "States.ALL") {
        return true;
    }
    auto is_timeout = error == "States.Timeout" || error == heartbeat_timeout;
    return is_timeout ? name == "States.Timeout" : name == "States.TaskFailed";
}

template <typename Rules>
std::optional<std::size_t> find_rule(const Rules& rules, const Failure& failure) {
    if (is_final(failure)) {
        return std::nullopt;
    }
    auto found = std::ranges::find_if(
        rules, [&](const auto& rule) { return matches(rule.errors, failure.error.value_or("")); });
    return found == rules.end() ? std::nullopt
                                : std::optional{static_cast<std::size_t>(found - rules.begin())};
}

} // namespace

bool is_final(const Failure& failure) {
    return failure.error == "States.Runtime";
}

bool matches(std::span<const std::string> names, std::string_view error) {
    return std::ranges::any_of(names,
                               [&](const std::string& name) { return matches_name(name, error); });
}

std::optional<std::size_t> find_retrier(std::span<const Retrier> retriers, const Failure& failure) {
    return find_rule(retriers, failure);
}

std::optional<std::size_t> find_catcher(std::span<const Catcher> catchers, const Failure& failure) {
    return find_rule(catchers, failure);
}

double retry_seconds(const Retrier& retrier, std::uint32_t retries) {
    auto delay = retrier.interval_seconds * std::pow(retrier.backoff_rate, retries);
    auto limit = retrier.delay_seconds_max ? static_cast<double>(*retrier.delay_seconds_max)
                                           : retry_seconds_max;
    return std::min(delay, limit);
}

Nanos retry_delay(const Retrier& retrier, std::uint32_t retries, std::uint64_t chance) {
    auto seconds = retry_seconds(retrier, retries);
    if (retrier.has_full_jitter) {
        seconds *= Random{chance}.unit();
    }
    return std::chrono::round<Nanos>(std::chrono::duration<double>{seconds});
}

Value error_output(const Failure& failure) {
    auto members = std::vector<value::Member>{};
    if (failure.error) {
        members.push_back({"Error", *failure.error});
    }
    if (failure.cause) {
        members.push_back({"Cause", *failure.cause});
    }
    return Value::map(std::move(members));
}

std::string cause_in_state(std::string_view cause, std::string_view state, std::uint64_t event) {
    return fmt::format(
        "An error occurred while executing the state '{}' (entered at the event id "
        "#{}). {}",
        state, event, cause);
}

} // namespace sluice::workflow::asl::internal
