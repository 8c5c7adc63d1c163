#pragma once

#include <expected>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/catalog.h"
#include "sluice/integrations.h"
#include "sluice/languages.h"
#include "trigger/trigger_set.h"
#include "workflow/asl/compile.h"
#include "workflow/raw/compile.h"
#include "workflow/raw/finding.h"

namespace sluice::app {

/// A file's text; `-` is standard input. Fails with NotFound or Io, saying why.
Result<std::string> read_text(const std::string& path);

/// A definition read, checked and compiled, with its text.
struct LoadedDefinition {
    workflow::raw::Definition definition;
    std::string text;
    /// Of those that `for_catalog` gives, in the same order: made once, since it takes long for a
    /// large one.
    std::vector<std::string> hashes{};

    /// As the catalog takes them: those nested in it first, itself last.
    std::vector<engine::Definition> for_catalog() const;
    /// Changes whenever it, a definition nested in it or the input of its run does.
    std::string run_id(const Value& input) const;
};

/// Everything that is wrong with it, or the definition.
std::expected<LoadedDefinition, Findings> load_definition(std::string text, const std::string& file,
                                                          const trigger::Vocabulary& vocabulary,
                                                          const KnownFunctions& known);

/// A state machine, under this name.
std::expected<workflow::raw::Definition, Findings> load_machine(
    const std::string& text, const std::string& file, const workflow::asl::CompileOptions& options);

/// What a file declares under `functions`, `buckets` and `connections`.
struct FunctionFile {
    std::vector<workflow::raw::FunctionForm> functions{};
    Integrations integrations{};
};
/// Directories of buckets are from the folder of the file on.
std::expected<FunctionFile, Findings> load_functions(const std::string& text,
                                                     const std::string& file,
                                                     const trigger::Vocabulary& vocabulary);

/// Each on a line of standard error, or all as JSON on standard output.
void say_findings(const Findings& findings);
Value to_value(const workflow::raw::Finding& finding);

} // namespace sluice::app
