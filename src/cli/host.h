#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "client/transport.h"
#include "value/value.h"

namespace sluice::cli {

/// What the program around the commands does for them.
struct Host {
    /// YAML or JSON as a value; what is wrong with it names file, line and column.
    std::function<Result<Value>(const std::string& text, const std::string& file)> read_document;
    /// A server over a data directory, within this process.
    std::function<Result<std::unique_ptr<client::Transport>>(const std::string& data)> open_data;
};

} // namespace sluice::cli
