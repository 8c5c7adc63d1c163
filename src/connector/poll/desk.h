#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "value/value.h"

namespace sluice::connector::poll {

/// A task as a worker gets it.
struct Task {
    std::string token;
    std::string function;
    std::string run;
    std::string key; ///< The same over attempts and offers.
    Value input;
    std::uint32_t attempt = 1;
    std::uint32_t offer = 1; ///< How often this attempt was handed out, this time included.
    std::uint64_t lease = 0;
    Nanos lease_time{0};
    Nanos time_left{0}; ///< Of its timeout; zero: no timeout.
    std::string trace;  ///< `traceparent`; empty: none.
};

struct Question {
    std::string space;
    std::string function;
    std::size_t most = 1; ///< None: only to hear that one is there, which nobody has yet.
    Nanos wait{0};        ///< For the first of them.
};

/// Where workers ask for the tasks of functions of kind `poll`. From any thread.
class Desk {
public:
    using Take = std::move_only_function<void(std::vector<Task>)>;

    virtual ~Desk() = default;
    /// Calls `take` once, possibly at once: with no tasks when none came in time, or when what this
    /// gives is called before. Empty when it was called at once.
    virtual std::function<void()> ask(Question question, Take take) = 0;
    /// Whoever waits goes without, and nobody waits any more. The tasks stay.
    virtual void end_asking() = 0;
};

} // namespace sluice::connector::poll
