#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sluice/exit_code.h"
#include "store/store.h"

namespace sluice::app {

struct RunOptions {
    std::string file;
    std::string input;       ///< JSON, or `@` and a file; empty: the definition's own.
    std::string functions;   ///< A file that declares more of them, or `simulate`; empty: none.
    std::string time_scale;  ///< Of simulated functions; empty: 1.
    std::uint32_t slots = 0; ///< For simulated functions; zero: any number.
    std::string data;        ///< Empty: a temporary directory.
    std::string run;         ///< Empty: from definition and input.
    std::vector<std::string> labels; ///< Each `key=value`.
    std::string events;              ///< A file, or `-`; empty: none.
    std::string durability; ///< Empty: strict where the data is kept, relaxed where it is not.
    std::uint32_t threads = 1;
    std::string mocks;        ///< Of a state machine's tasks: JSON, or `@` and a file; empty: none.
    std::string objects;      ///< Of its object store: the same.
    bool skips_waits = false; ///< Of a state machine: on virtual time.
    std::string stop_after;   ///< When somebody stops its execution; empty: nobody does.
    bool is_batch = false;    ///< The file has a trial of a state machine on each line.
    bool is_express = false;  ///< As an express machine.
    bool has_history = false; ///< Its execution history is printed too.
    bool is_json = false;
    bool is_quiet = false;
    bool keeps_going = false; ///< Bad lines among the events do not count.
};

/// Runs a definition to its end. The result goes to standard output, one JSON value and nothing
/// else.
ExitCode run(const RunOptions& options);

} // namespace sluice::app
