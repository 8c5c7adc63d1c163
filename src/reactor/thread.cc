#include "reactor/thread.h"

#include <utility>

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

} // namespace sluice::reactor
