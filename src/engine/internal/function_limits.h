#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/rate_limit.h"
#include "base/result.h"
#include "expr/program.h"
#include "value/value.h"

namespace sluice::engine {

inline constexpr auto priority_max = std::int64_t{1'000};

/// How many calls of a function may be under way, how many a second may begin, and whose turn comes
/// first.
struct FunctionLimits {
    Rate rate;
    std::int32_t priority = 0; ///< Higher goes first.
    /// What calls are about, from `input`: those with the same key share the limits below. They are
    /// each namespace's own.
    std::optional<expr::Program> key;
    std::uint32_t key_concurrency = 0; ///< Zero: no limit.
    Rate key_rate;
};

/// Reads `rate`, `burst`, `priority` and `per_key` over what stands there already; leaves out what
/// a definition's check would have refused.
void apply_limits(const Value& policy, FunctionLimits& limits);

/// The call's own, or else the function's.
std::int32_t priority_of(const Value& policy, const FunctionLimits& limits);

/// Fails with InvalidInput: expected an expression over `input`.
Result<expr::Program> compile_limit_key(std::string_view text);

/// The key of a call with this input; where the expression has none, all such calls share one.
std::string limit_key_of(const FunctionLimits& limits, const Value& input);

} // namespace sluice::engine
