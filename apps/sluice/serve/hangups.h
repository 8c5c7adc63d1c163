#pragma once

#include <csignal>

#include "sluice/run/bell.h"

namespace sluice::app {

/// SIGHUP rings the bell: somebody wants the configuration read again. One at a time exists.
class Hangups {
public:
    /// The bell must outlive it.
    explicit Hangups(const Bell& bell);
    ~Hangups();
    Hangups(const Hangups&) = delete;
    Hangups& operator=(const Hangups&) = delete;

    /// Whether one came since this was asked.
    bool take();

private:
    struct sigaction before_{};
};

} // namespace sluice::app
