#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "cli/exit_code.h"
#include "client/transport.h"
#include "value/value.h"

namespace sluice::cli {

/// A token to be made without a server.
struct TokenRequest {
    std::string data; ///< Of a server that does not run; empty: to be put into a configuration.
    std::string name;
    std::string role;
    std::string space;
    std::string expires; ///< A time, or a duration from now.
    bool is_json = false;
};

/// What the program around the commands does for them.
struct Host {
    /// YAML or JSON as a value; what is wrong with it names file, line and column.
    std::function<Result<Value>(const std::string& text, const std::string& file)> read_document;
    /// A server over a data directory, within this process.
    std::function<Result<std::unique_ptr<client::Transport>>(const std::string& data)> open_data;
    std::function<ExitCode(const TokenRequest&)> make_token;
};

} // namespace sluice::cli
