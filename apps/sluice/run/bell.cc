#include "sluice/run/bell.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/invariant.h"

namespace sluice::app {

Bell::Bell() : descriptor_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    INVARIANT(descriptor_.is_open(), "a new process has descriptors left");
}

void Bell::ring() const noexcept {
    auto one = std::uint64_t{1};
    // It fails only when nobody has waited for a very long time, and then it rings already.
    [[maybe_unused]] auto written = ::write(descriptor_.raw(), &one, sizeof(one));
}

void Bell::wait(std::chrono::milliseconds at_most) const {
    auto watched = ::pollfd{.fd = descriptor_.raw(), .events = POLLIN, .revents = 0};
    ::poll(&watched, 1, static_cast<int>(at_most.count()));
    auto count = std::uint64_t{0};
    [[maybe_unused]] auto taken = ::read(descriptor_.raw(), &count, sizeof(count));
}

int Bell::descriptor() const {
    return descriptor_.raw();
}

} // namespace sluice::app
