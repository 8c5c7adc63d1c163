#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <thread>

namespace sluice::reactor {

/// A thread with a name (its first 15 bytes are shown), which receives no signals: they stay with
/// the main thread, and writing to a closed pipe fails with EPIPE.
std::jthread start_thread(const std::string& name,
                          std::move_only_function<void(std::stop_token)> body);

/// Has so much memory at hand for what the calling thread allocates, and lets it keep what it
/// frees: glibc gives threads one page at a time otherwise, each by a system call and a fault.
void reserve_memory(std::size_t bytes);

} // namespace sluice::reactor
