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
    std::string since;          ///< Started then or later: a time, or a duration before now.
    std::string until;          ///< Started before then.
    std::string ended_since;    ///< Likewise of their end.
    std::string ended_until;
    std::string cursor;      ///< Where the page before ended; empty: the first page.
    std::size_t limit = 100; ///< Runs, or events, at most.
    bool is_json = false;
};

/// What a data directory holds: its runs, or one of them.
ExitCode show(const ShowOptions& options);

} // namespace sluice::app
