#pragma once

#include <optional>
#include <string>

#include "sluice/definition_file.h"
#include "sluice/functions.h"
#include "sluice/run/run_command.h"
#include "trigger/trigger_set.h"

namespace sluice::app {

/// Everything about a run that can be known, and be wrong, before anything is opened.
struct PreparedRun {
    LoadedDefinition loaded;
    std::vector<workflow::raw::FunctionForm> functions;
    Integrations integrations;
    std::optional<Simulation> simulation;
    Value input;
    Value labels;
    std::string id;
    store::Durability durability = store::Durability::Strict;
};

store::Durability durability_of(const RunOptions& options);
/// Of `--functions simulate`; nothing without it. Fails with InvalidInput for a scale that is none,
/// and for settings of a simulation where there is none.
Result<std::optional<Simulation>> simulation_of(const RunOptions& options);
/// What `--functions` names. Nothing when something is wrong with it; that has been said then, and
/// `code` is set.
std::optional<FunctionFile> read_functions(const RunOptions& options,
                                           const trigger::Vocabulary& vocabulary, ExitCode& code);
/// Nothing when something is wrong; that has been said then, and `code` is set.
std::optional<PreparedRun> prepare(const RunOptions& options, const trigger::Vocabulary& vocabulary,
                                   ExitCode& code);

} // namespace sluice::app
