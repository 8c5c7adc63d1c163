#include "expr/states/internal/wording.h"

#include <fmt/format.h>

#include "value/json.h"

namespace sluice::expr::states::internal {

Failure not_found(const RootedPath& path, std::string_view field, const Sight& sight) {
    const auto* searched =
        path.is_in_context() && sight.context != nullptr ? &sight.context->value() : sight.data;
    auto input = searched != nullptr ? value::to_json(*searched) : "null";
    return {"States.Runtime",
            fmt::format("The JSONPath '{}' specified for the field '{}' could not "
                        "be found in the input '{}'",
                        path.text(), field, input)};
}

Failure evaluation_failure(std::string_view expression, std::string_view field,
                           std::string_view what) {
    return {"States.QueryEvaluationError",
            fmt::format("The JSONata expression '{}' specified for the field '{}' {}", expression,
                        field, what),
            std::string{field}};
}

std::string_view json_type_of(const Value& value) {
    switch (value.kind()) {
        case value::Kind::Null: return "null";
        case value::Kind::Bool: return "boolean";
        case value::Kind::Int:
        case value::Kind::Uint:
        case value::Kind::Double: return "number";
        case value::Kind::List: return "array";
        case value::Kind::Map: return "object";
        default: return "string";
    }
}

} // namespace sluice::expr::states::internal
