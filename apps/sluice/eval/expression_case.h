#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "event/codec.h"
#include "event/event.h"
#include "expr/program.h"
#include "value/value.h"

namespace sluice::app {

/// An expression with all it may look at.
struct ExpressionCase {
    std::string text;
    std::optional<Value> input;
    Value bindings;       ///< A map of names to values, or null.
    Value typed_bindings; ///< A map of names to values with their kinds, or null.
    std::vector<std::string> names;
    std::string container;
    std::optional<event::Event> event;
};

/// What became of it: a value, a fault, or neither, which is JSONata's undefined. CESQL has a value
/// and faults.
struct ExpressionAnswer {
    std::optional<Value> value;
    std::optional<expr::Fault> fault;
    std::optional<std::vector<expr::Fault>> errors;

    bool has_failed() const { return fault || (errors && !errors->empty()); }
};

enum class Kinds : std::uint8_t { Plain, Shown };

using Evaluator = ExpressionAnswer (*)(const ExpressionCase& one, Kinds kinds);

/// By the name of `--lang`; null when there is none.
Evaluator evaluator_of(std::string_view language);
std::vector<std::string> language_names();

/// One line of a batch. Fails with InvalidInput, saying which member is wrong.
Result<ExpressionCase> read_case(const Value& line, event::Codec& codec);
/// What the batch answers, behind the line's id.
Value write_answer(Value id, const ExpressionAnswer& answer);

} // namespace sluice::app
