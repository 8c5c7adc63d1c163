#include "sluice/run/interrupts.h"

#include <atomic>

#include <unistd.h>

#include "sluice/exit_code.h"

namespace sluice::app {

namespace {

// A signal handler can reach nothing else.
std::atomic<int> interrupts{0}; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<const Bell*> interrupted{
    nullptr}; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

void take_signal(int /*signal*/) {
    if (interrupts.fetch_add(1) > 0) {
        ::_exit(static_cast<int>(ExitCode::Interrupted));
    }
    if (const auto* bell = interrupted.load()) {
        bell->ring();
    }
}

} // namespace

Interrupts::Interrupts(const Bell& bell) {
    interrupts = 0;
    interrupted = &bell;
    struct sigaction action{};
    action.sa_handler = take_signal;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(SIGINT, &action, &before_interrupt_);
    ::sigaction(SIGTERM, &action, &before_terminate_);
}

Interrupts::~Interrupts() {
    ::sigaction(SIGINT, &before_interrupt_, nullptr);
    ::sigaction(SIGTERM, &before_terminate_, nullptr);
    interrupted = nullptr;
}

bool Interrupts::has_come() const {
    return interrupts > 0;
}

} // namespace sluice::app
