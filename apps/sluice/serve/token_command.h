#pragma once

#include <string>

#include "sluice/exit_code.h"

namespace sluice::app {

struct TokenOptions {
    std::string data; ///< Empty: only made, to be put into a configuration.
    std::string name;
    std::string role;
    std::string space;
    std::string expires; ///< A time, or a duration from now.
    bool is_json = false;
};

/// Makes a token in the data of a server that does not run: how the first one comes about.
ExitCode create_token(const TokenOptions& options);

} // namespace sluice::app
