#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "cli/command.h"
#include "cli/host.h"
#include "client/client.h"

namespace sluice::cli {

/// Whom a command asks. Options go before the environment, and that before a profile.
struct Connection {
    std::string server;
    std::string token;
    std::string space;
    std::string ca;
    std::string profile;
    std::string data; ///< A data directory: the server runs in this process.
    Nanos timeout = std::chrono::seconds{30}; ///< Of a request to a server; zero: none.

    /// The words of a command that asks a server.
    void add_to(Command& command);
    /// And of one that can also look at a data directory.
    void add_with_data_to(Command& command);

    Result<client::Client> open(const Host& host) const;
};

/// Says what went wrong and what to do about it.
ExitCode report(const client::Problem& problem);
/// The same of a request that names a run: of one that is not there, which was probably meant.
ExitCode report(client::Client& client, const client::Problem& problem, std::string_view run);

} // namespace sluice::cli
