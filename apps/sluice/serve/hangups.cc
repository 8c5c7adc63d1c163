#include "sluice/serve/hangups.h"

#include <atomic>

namespace sluice::app {

namespace {

// A signal handler can reach nothing else.
std::atomic<bool> has_hung_up{false}; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<const Bell*> hangup_bell{
    nullptr}; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

void take_hangup(int /*signal*/) {
    has_hung_up = true;
    if (const auto* bell = hangup_bell.load()) {
        bell->ring();
    }
}

} // namespace

Hangups::Hangups(const Bell& bell) {
    has_hung_up = false;
    hangup_bell = &bell;
    struct sigaction action{};
    action.sa_handler = take_hangup;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(SIGHUP, &action, &before_);
}

Hangups::~Hangups() {
    ::sigaction(SIGHUP, &before_, nullptr);
    hangup_bell = nullptr;
}

bool Hangups::take() {
    return has_hung_up.exchange(false);
}

} // namespace sluice::app
