#pragma once

#include <csignal>

#include "sluice/run/bell.h"

namespace sluice::app {

/// Ctrl-C and SIGTERM ring the bell; a second one ends the process at once. One at a time exists.
class Interrupts {
public:
    /// The bell must outlive it.
    explicit Interrupts(const Bell& bell);
    ~Interrupts();
    Interrupts(const Interrupts&) = delete;
    Interrupts& operator=(const Interrupts&) = delete;

    bool has_come() const;

private:
    struct sigaction before_interrupt_{};
    struct sigaction before_terminate_{};
};

} // namespace sluice::app
