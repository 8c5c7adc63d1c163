#pragma once

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "expr/program.h"

namespace sluice::expr::cel::internal {

/// A fault whose position the evaluation fills in.
template <typename... Args>
Outcome fault(std::string_view code, fmt::format_string<Args...> format, Args&&... args) {
    return Fault{std::string{code}, fmt::format(format, std::forward<Args>(args)...), 0};
}

inline Outcome budget_fault() {
    return fault("budget", "the expression does more than its budget allows");
}

inline bool is_fault(const Outcome& outcome) {
    return std::holds_alternative<Fault>(outcome);
}

} // namespace sluice::expr::cel::internal
