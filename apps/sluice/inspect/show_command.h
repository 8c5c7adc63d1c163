#pragma once

#include <string>

#include "sluice/exit_code.h"

namespace sluice::app {

enum class Section : std::uint8_t { Summary, Triggers, Contexts, History, Events, Timers, Tasks };

struct ShowOptions {
    std::string data;
    std::string run; ///< Empty: lists runs.
    Section section = Section::Summary;
    bool is_quarantine = false; ///< Lists events that no run was there for.
    std::string status;         ///< Of the runs to list; empty: any.
    std::string definition;     ///< Likewise.
    std::string label;          ///< Likewise, `key=value`.
    std::size_t limit = 100;    ///< Runs, or events, at most.
    bool is_json = false;
};

/// What a data directory holds: its runs, or one of them.
ExitCode show(const ShowOptions& options);

} // namespace sluice::app
