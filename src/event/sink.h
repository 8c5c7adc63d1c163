#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "value/value.h"

namespace sluice::event {

/// What leaves the outbox: an event for a sink, or the call of a function.
struct Delivery {
    /// Idempotency key, the same however often it is delivered: `[namespace/]run/fire/index`.
    std::string key;
    std::string token;  ///< Names this attempt; an answer that comes by another way must carry it.
    std::string target; ///< The function or sink by name.
    std::uint32_t attempt = 1;
    Value payload;     ///< A function's input; an event as a map.
    Nanos timeout{0};  ///< Give up after this long; zero: never.
    std::string space; ///< Namespace of the run it is called from.
    std::string run;
    std::string trace; ///< `traceparent` of the event that led here; empty: none.
};

/// What became of it: a result, or an error with a kind that retry policies match (`timeout`,
/// `exit`, …).
struct Answer {
    bool is_success = true;
    Value result;
    std::string error_kind;
    std::string error_message;
    Value error_detail;   ///< Such as exit code and stderr.
    Nanos retry_after{0}; ///< The other side asks not to be called again before.
};

/// An answer that says what went wrong.
inline Answer failure(std::string_view kind, std::string message, Value detail = {}) {
    return {.is_success = false,
            .error_kind = std::string{kind},
            .error_message = std::move(message),
            .error_detail = std::move(detail)};
}

/// Where events and calls leave. Deliveries may be repeated after a crash, with the same key.
class Sink {
public:
    using Done = std::move_only_function<void(Answer)>;

    virtual ~Sink() = default;
    /// Whether answers may come by another way than `done`. Tokens of a sink where they do not need
    /// not be secret, which costs less.
    virtual bool is_answered_from_outside() const { return true; }
    /// Starts the work and returns at once. `done` is called exactly once, from any thread, also
    /// after `cancel` or a timeout, and possibly before `deliver` returns.
    virtual void deliver(Delivery delivery, Done done) = 0;
    /// The answer is no longer wanted: stop early if that is possible.
    virtual void cancel(std::string_view token) = 0;
    /// Somebody works on it still: under this lease, where the sink gave several; 0 is any of them.
    /// False when nobody does, or somebody else by now.
    virtual bool heartbeat(std::string_view /*token*/, std::uint64_t /*lease*/) { return false; }
};

} // namespace sluice::event
