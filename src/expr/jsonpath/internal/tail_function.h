#pragma once

#include <expected>
#include <span>
#include <vector>

#include "expr/jsonpath/internal/query.h"
#include "expr/meter.h"
#include "expr/program.h"

namespace sluice::expr::jsonpath::internal {

/// Whether a path yields one value rather than a list of them.
inline bool yields_one(const Query& query) {
    return query.is_definite || (query.tail && query.has_descendants);
}

/// What a function at the end of a path makes of what is before it; faults have no position.
std::expected<Value, Fault> call_tail(Tail tail, const Value& subject,
                                      std::span<const Value> arguments, Meter& meter);

} // namespace sluice::expr::jsonpath::internal
