#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "client/transport.h"

namespace sluice::app {

/// What a server would tell of a data directory, within this process. Looking changes nothing: the
/// directory is opened to be read, and no engine goes on with its runs.
///
/// Fails with NotFound when there is none, with Conflict when another process has it open.
Result<std::unique_ptr<client::Transport>> open_data(const std::string& data);

} // namespace sluice::app
