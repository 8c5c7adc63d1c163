#pragma once

#include <optional>
#include <string_view>

#include "workflow/asl/internal/read/object.h"
#include "workflow/asl/machine.h"

namespace sluice::workflow::asl::internal {

using expr::states::is_expression;
using expr::states::TemplateSite;

/// A number that may be computed: `TimeoutSeconds`, and `TimeoutSecondsPath` in JSONPath.
struct NumberRule {
    std::string_view name;
    std::string_view path_name;
    WholeRange range{};
    bool may_be_fraction = false;
};

NumberField read_number(const Object& object, Language language, const NumberRule& rule);
/// `InputPath` and `OutputPath`.
PathField read_path(const Object& object, std::string_view name);
ResultPath read_result_path(const Object& object);
std::optional<Selector> read_selector(const Object& object, std::string_view name,
                                      Selector::Kind kind);
/// Any JSON with what is computed in it.
std::optional<Template> read_template(const Object& object, std::string_view name,
                                      const TemplateSite& site);
/// The same of what must be an object, or an expression that yields one.
std::optional<Template> read_object_template(const Object& object, std::string_view name,
                                             const TemplateSite& site);
/// `Assign`: its names are those of variables.
std::optional<Template> read_assign(const Object& object, const TemplateSite& site);
/// `Error` and `Cause` of a Fail state, with `ErrorPath` and `CausePath`.
FailState::Text read_fail_text(const Object& object, Language language, std::string_view name,
                               std::string_view path_name);

} // namespace sluice::workflow::asl::internal
