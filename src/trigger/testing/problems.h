#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include "trigger/spec.h"
#include "value/json.h"

namespace sluice::trigger {

/// What a failing test shows of a problem.
inline void PrintTo(const Problem& problem, // NOLINT(readability-identifier-naming)
                    std::ostream* out) {
    *out << problem.path << ": " << problem.message;
}

} // namespace sluice::trigger

namespace sluice::trigger::testing {

inline Value json(std::string_view text) {
    return value::parse_json(text).value();
}

inline Problem problem(std::string path, std::string message) {
    return {.path = std::move(path), .message = std::move(message)};
}

} // namespace sluice::trigger::testing
