#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "value/value.h"

namespace sluice::expr::states {

enum class Language : std::uint8_t { JsonPath, Jsonata };

/// Why a state cannot go on, in the service's words.
struct Failure {
    std::optional<std::string> error{}; ///< `States.Runtime`; a Fail state may name none.
    /// Without "An error occurred while executing the state …", which whoever runs it puts before.
    std::optional<std::string> cause{};
    /// The field whose evaluation failed, `Output/result`, where the service tells of one.
    std::string location{};

    /// The history tells of it by an event of its own, `EvaluationFailed`, before the state fails.
    bool is_of_evaluation() const { return error == "States.QueryEvaluationError"; }
    bool operator==(const Failure&) const = default;
};

/// The context object, `$$` or `$states.context`; made when somebody looks at it.
class Context {
public:
    virtual ~Context() = default;
    virtual const Value& value() const = 0;
};

/// The variables of a scope and of those around it.
class Variables {
public:
    virtual ~Variables() = default;
    /// Null when there is none.
    virtual const Value* find(std::string_view name) const = 0;
    /// All of them as a map, the inner ones first: for inspection.
    virtual Value all() const = 0;
};

/// What the fields of a state may read. Nothing is owned: all of it must outlive the evaluation.
struct Sight {
    const Value* data = nullptr;  ///< `$` of paths, which changes from field to field.
    const Value* input = nullptr; ///< `$states.input`: what the state was entered with.
    const Context* context = nullptr;
    const Variables* variables = nullptr;
    const Value* result = nullptr;       ///< `$states.result`, where there is one.
    const Value* error_output = nullptr; ///< `$states.errorOutput`, likewise.
    std::uint64_t chance =
        0;      ///< Seeds what is random, so that the same sight gives the same value.
    Time now{}; ///< What `$now()` and `$millis()` say.
};

} // namespace sluice::expr::states
