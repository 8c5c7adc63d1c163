#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "expr/jsonata/internal/evaluator.h"

namespace sluice::expr::jsonata::internal {

/// As `$boolean` has it; undefined is false.
bool truth_of(const Item& item, Arena& arena, std::size_t depth = 0);
bool is_equal(const Item& left, const Item& right, Arena& arena, std::size_t depth = 0);
/// The same scalar, or the very same array, object or function.
bool is_same(const Item& left, const Item& right);
/// Raises D1001 for a number that is none.
bool is_finite_number(const Item& item);

Item calculate(Operator op, const Item& left, const Item& right, std::size_t position);
Item compare(Operator op, const Item& left, const Item& right, std::size_t position);
Item range(const Item& left, const Item& right, std::size_t position, Evaluator& evaluator);
Item append(const Item& left, const Item& right, Evaluator& evaluator);

/// JSON for people and programs, numbers with 15 digits: what `$string` gives.
void write_text(const Item& item, bool is_pretty, std::string& out, Evaluator& evaluator);
Item text_of(const Item& item, Evaluator& evaluator);
std::string number_text(const Item& item);
/// As JavaScript writes a number.
std::string number_text(double real);

/// A copy that can be changed.
Item clone(const Item& item, Evaluator& evaluator, std::size_t depth = 0);
Value to_value(const Item& item, Evaluator& evaluator, bool is_output, std::size_t depth = 0);

} // namespace sluice::expr::jsonata::internal
