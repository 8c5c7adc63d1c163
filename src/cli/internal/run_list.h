#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "client/client.h"

namespace sluice::cli {

/// Which runs to list, and how many.
struct RunListOptions {
    client::RunFilter filter; ///< Its times as people write them: a time, or how long ago.
    std::string cursor;
    std::uint64_t limit = 100;
    bool is_all = false;

    /// The words that select, and those that turn pages besides.
    void add_filter_to(Command& command);
    void add_to(Command& command);
    /// Its times as the API has them.
    Result<client::RunFilter> read_filter() const;
};

/// The runs as a table, or as `{"runs": […], "cursor"}`.
ExitCode list_runs(client::Client& client, const RunListOptions& options, bool is_json);

} // namespace sluice::cli
