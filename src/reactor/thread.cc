#include "reactor/thread.h"

#include <memory>
#include <utility>
#include <vector>

#include <malloc.h>
#include <pthread.h>
#include <signal.h>

namespace sluice::reactor {
namespace {

/// Blocks all signals for the calling thread; a thread it starts meanwhile inherits that.
class BlockedSignals {
public:
    BlockedSignals() {
        auto all = sigset_t{};
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    BlockedSignals(const BlockedSignals&) = delete;
    BlockedSignals& operator=(const BlockedSignals&) = delete;

private:
    sigset_t before_{};
};

} // namespace

std::jthread start_thread(const std::string& name,
                          std::move_only_function<void(std::stop_token)> body) {
    auto blocked = BlockedSignals{};
    return std::jthread{
        [shown = name.substr(0, 15), body = std::move(body)](std::stop_token stop) mutable {
            pthread_setname_np(pthread_self(), shown.c_str());
            body(std::move(stop));
        }};
}

void reserve_memory(std::size_t bytes) {
    constexpr auto kept_bytes = 16 * 1024 * 1024; ///< Of the free end of a thread's memory.
    constexpr auto mapped_bytes_min = 8 * 1024 * 1024;
    constexpr auto block_bytes = std::size_t{64} * 1024; // Smaller than what is mapped by itself.
    mallopt(M_TRIM_THRESHOLD, kept_bytes);
    mallopt(M_MMAP_THRESHOLD, mapped_bytes_min); // Would stay small once the other is set.
    auto blocks = std::vector<std::unique_ptr<char[]>>{};
    for (auto total = std::size_t{0}; total < bytes; total += block_bytes) {
        blocks.push_back(std::make_unique<char[]>(block_bytes)); // Zeroed, so the pages are there.
    }
}

} // namespace sluice::reactor
