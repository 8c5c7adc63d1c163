#include "engine/internal/function.h"

#include <algorithm>
#include <cmath>

#include "value/time_text.h"

namespace sluice::engine {

namespace {

std::optional<Nanos> duration_in(const Value& map, std::string_view key) {
    const auto* found = map.find(key);
    if (found == nullptr) {
        return std::nullopt;
    }
    if (found->is_int()) {
        return std::chrono::seconds{found->as_int()};
    }
    if (found->is_double()) {
        return Nanos{static_cast<std::int64_t>(found->as_double() * 1e9)};
    }
    if (found->is_string()) {
        if (auto parsed = value::parse_duration(found->as_string())) {
            return *parsed;
        }
    }
    return std::nullopt;
}

double number_in(const Value& map, std::string_view key, double otherwise) {
    const auto* found = map.find(key);
    if (found == nullptr || !found->is_number()) {
        return otherwise;
    }
    return found->is_double() ? found->as_double() : static_cast<double>(found->as_int());
}

bool is_for(const Value& retry, std::string_view error_kind) {
    const auto* on = retry.find("on");
    if (on == nullptr || !on->is_list()) {
        return !RetryPolicy::is_final(error_kind);
    }
    return std::ranges::find(on->as_list(), Value{error_kind}) != on->as_list().end();
}

/// Null when there is none.
const Value* retry_in(const Value& policy, std::string_view error_kind) {
    const auto* retry = policy.find("retry");
    if (retry == nullptr || !retry->is_list()) {
        return retry;
    }
    auto found = std::ranges::find_if(retry->as_list(),
                                      [&](const Value& each) { return is_for(each, error_kind); });
    return found == retry->as_list().end() ? nullptr : &*found;
}

} // namespace

void apply_policy(const Value& policy, Function& function, std::string_view error_kind) {
    function.timeout = duration_in(policy, "timeout").value_or(function.timeout);
    apply_limits(policy, function.limits);
    const auto* retry = retry_in(policy, error_kind);
    if (retry == nullptr || !retry->is_map()) {
        return;
    }
    auto& into = function.retry;
    into.attempts = static_cast<std::uint32_t>(number_in(*retry, "attempts", 3));
    into.interval = duration_in(*retry, "interval").value_or(into.interval);
    into.max_delay = duration_in(*retry, "max_delay").value_or(into.max_delay);
    into.backoff = number_in(*retry, "backoff", into.backoff);
    into.jitter = number_in(*retry, "jitter", into.jitter);
    if (const auto* on = retry->find("on"); on != nullptr && on->is_list()) {
        into.on.clear();
        for (const auto& kind : on->as_list()) {
            into.on.emplace_back(kind.is_string() ? kind.as_string() : "");
        }
    }
}

Nanos timeout_of(const Value& policy, const Function& function) {
    return duration_in(policy, "timeout").value_or(function.timeout);
}

bool RetryPolicy::is_final(std::string_view error_kind) {
    return error_kind == "invalid_input" || error_kind == "unknown_function" ||
           error_kind == "unknown_pool" || error_kind == "rejected" ||
           error_kind == "forbidden_address" || error_kind == "object_missing" ||
           error_kind == "object_damaged" || error_kind == "input_too_large";
}

std::optional<Nanos> RetryPolicy::delay_after(std::uint32_t attempt, std::string_view error_kind,
                                              double unit) const {
    auto is_listed =
        on.empty() ? !is_final(error_kind) : std::ranges::find(on, error_kind) != on.end();
    if (attempt >= attempts || !is_listed) {
        return std::nullopt;
    }
    auto factor = std::pow(backoff, static_cast<double>(attempt - 1));
    auto delay = std::min(static_cast<double>(interval.count()) * factor,
                          static_cast<double>(max_delay.count()));
    delay *= 1.0 - jitter * unit;
    return Nanos{static_cast<std::int64_t>(std::max(0.0, delay))};
}

} // namespace sluice::engine
