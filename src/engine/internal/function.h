#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "engine/internal/function_limits.h"
#include "event/sink.h"
#include "value/value.h"

namespace sluice::engine {

/// When a failed attempt is followed by another.
struct RetryPolicy {
    std::uint32_t attempts = 1;
    Nanos interval = std::chrono::seconds{1};
    double backoff = 2.0;
    Nanos max_delay = std::chrono::minutes{5};
    double jitter = 0.1;         ///< Share of the delay that is random.
    std::vector<std::string> on; ///< Error kinds; empty: all but those of `is_final`.

    /// Kinds that another attempt would only meet again: `invalid_input`, `unknown_function`,
    /// `rejected`, `forbidden_address`, and inputs that cannot be had.
    static bool is_final(std::string_view error_kind);

    /// The delay before attempt + 1, or nothing when this was the last.
    std::optional<Nanos> delay_after(std::uint32_t attempt, std::string_view error_kind,
                                     double unit) const;
};

struct Function {
    event::Sink* sink = nullptr;
    std::shared_ptr<event::Sink> owner{}; ///< Keeps the sink as long as calls use it; may be null.
    Nanos timeout{0};
    std::uint32_t concurrency = 0; ///< Zero: no limit.
    RetryPolicy retry;
    FunctionLimits limits;
    /// Of a pool, which is no function to call but what calls take slots of.
    std::optional<std::uint32_t> slots{};
};

/// Under this name stands the function for calls whose own there is not.
inline constexpr std::string_view any_function{};

/// Functions by name: for every namespace, and those that one namespace has of its own, which go
/// before.
struct FunctionTable {
    std::map<std::string, Function> shared;
    std::map<std::string, std::map<std::string, Function>> by_space{};
};

/// Reads `timeout`, `retry` and limits as an action or a function's definition gives them, over
/// what stands there already. Of a list of retries the first that is for this kind of error counts.
void apply_policy(const Value& policy, Function& function, std::string_view error_kind = {});

/// What a call's own policy says, or else its function.
Nanos timeout_of(const Value& policy, const Function& function);

} // namespace sluice::engine
