#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/stepfunctions/internal/operation.h"
#include "workflow/asl/read.h"

namespace sluice::server::stepfunctions {

/// A definition's text, read and checked.
struct Checked {
    Value form;
    std::vector<workflow::asl::Diagnostic> errors;
    std::vector<workflow::asl::Diagnostic> warnings;
};
Checked check_definition(std::string_view text, bool is_express);

/// `Invalid State Machine Definition: 'SCHEMA_VALIDATION_FAILED: … at /States/A'`
Fault invalid_definition(const std::vector<workflow::asl::Diagnostic>& errors);

/// The author's text.
std::expected<std::string, Fault> definition_text(const World& world, const std::string& hash);
/// Checked, compiled, and under this name in the catalogue: its hash. Fails with InvalidDefinition.
std::expected<std::string, Fault> keep_definition(World& world, const std::string& space,
                                                  const std::string& name, const std::string& text,
                                                  bool is_express);

} // namespace sluice::server::stepfunctions
