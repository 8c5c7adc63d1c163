#pragma once

#include <optional>
#include <string>

#include "sluice/definition_file.h"
#include "sluice/run/run_command.h"
#include "trigger/trigger_set.h"

namespace sluice::app {

/// Everything about a run that can be known, and be wrong, before anything is opened.
struct PreparedRun {
    LoadedDefinition loaded;
    std::vector<workflow::raw::FunctionForm> functions;
    Value input;
    std::string id;
    store::Durability durability = store::Durability::Strict;
};

/// Nothing when something is wrong; that has been said then, and `code` is set.
std::optional<PreparedRun> prepare(const RunOptions& options, const trigger::Vocabulary& vocabulary,
                                   ExitCode& code);

} // namespace sluice::app
