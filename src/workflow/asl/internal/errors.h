#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "expr/states/sight.h"
#include "value/value.h"
#include "workflow/asl/machine.h"

namespace sluice::workflow::asl::internal {

/// What a missed heartbeat is to retriers and catchers; history and output call it
/// `States.Timeout`.
inline constexpr auto heartbeat_timeout = std::string_view{"States.HeartbeatTimeout"};

/// Errors that no retrier and no catcher gets, whatever they name.
bool is_final(const expr::states::Failure& failure);

/// Whether one of the names of an `ErrorEquals` stands for the error.
bool matches(std::span<const std::string> names, std::string_view error);

/// The first retrier whose names match: it decides, whether or not it has attempts left.
std::optional<std::size_t> find_retrier(std::span<const Retrier> retriers,
                                        const expr::states::Failure& failure);
std::optional<std::size_t> find_catcher(std::span<const Catcher> catchers,
                                        const expr::states::Failure& failure);

/// Seconds before a retry without jitter; `retries` were made by this retrier before it.
double retry_seconds(const Retrier& retrier, std::uint32_t retries);
/// The same with jitter.
Nanos retry_delay(const Retrier& retrier, std::uint32_t retries, std::uint64_t chance);

/// `{"Error": …, "Cause": …}`, what a catcher's `ResultPath` places; missing parts stay missing.
Value error_output(const expr::states::Failure& failure);

/// "An error occurred while executing the state '…' (entered at the event id #…). …"
std::string cause_in_state(std::string_view cause, std::string_view state, std::uint64_t event);

} // namespace sluice::workflow::asl::internal
