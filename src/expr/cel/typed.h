#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "expr/program.h"

namespace sluice::expr::cel {

/// One expression with what it needs, for those who want to see kinds: `sluice eval --typed` and
/// the conformance suite.
///
/// A typed value V is a map with one member that names the kind: `{"int": "5"}`,
/// `{"list": [V, …]}`, `{"map": [[V, V], …]}`, `{"timestamp": {"seconds": "1", "nanos": 0}}`.
struct TypedCase {
    std::string_view text;
    Value bindings;                 ///< A map of names to plain values, or null.
    Value typed_bindings;           ///< A map of names to V, or null.
    std::vector<std::string> names; ///< Further names that may be used though nothing is bound.
    std::string_view container;     ///< `a.b`: a name is looked for there first.
};

/// The outcome as V (typed) or as a plain value. Faults of compiling come out the same way.
Outcome evaluate_case(const TypedCase& one, const Budget& budget, bool typed);

} // namespace sluice::expr::cel
