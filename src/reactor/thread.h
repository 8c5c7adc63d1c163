#pragma once

#include <functional>
#include <string>
#include <thread>

namespace sluice::reactor {

/// A thread with a name (its first 15 bytes are shown), which receives no signals: they stay with
/// the main thread, and writing to a closed pipe fails with EPIPE.
std::jthread start_thread(const std::string& name,
                          std::move_only_function<void(std::stop_token)> body);

} // namespace sluice::reactor
