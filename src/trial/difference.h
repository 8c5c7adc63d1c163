#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "value/value.h"

namespace sluice::trial {

/// One thing that is not as a case says.
struct Difference {
    std::string path; ///< `result/files/0`; empty: of the run as a whole.
    std::string message;
    /// Null where there is none.
    Value expected;
    Value got;
};

enum class Match : std::uint8_t {
    Whole,  ///< Nothing else may be there.
    Subset, ///< Maps may have more members than expected.
};

/// Where a value differs from what is expected, path by path; at most 20. Numbers are equal that
/// have the same value, whatever their kind.
void compare(const Value& expected, const Value& got, Match match, const std::string& path,
             std::vector<Difference>& out);
bool matches(const Value& expected, const Value& got, Match match);

/// `result/files/0: expected "a.jpg", got "b.jpg"`
std::string to_text(const Difference& difference);

} // namespace sluice::trial
