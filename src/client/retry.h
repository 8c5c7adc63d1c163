#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "http/message.h"

namespace sluice::client {

/// Whether doing it twice is the same as once.
enum class Repeat : std::uint8_t { Safe, Unsafe };

struct RetryOptions {
    std::uint32_t attempts_max = 4;
    Nanos pause_min = std::chrono::milliseconds{100}; ///< Doubled each time.
    Nanos pause_max = std::chrono::seconds{5}; ///< Also where the server asks for a longer one.
};

/// When a request is sent again, and after which pause.
class Retry {
public:
    Retry(RetryOptions options, Repeat repeat, std::uint64_t seed)
        : options_(options), repeat_(repeat), random_(seed) {}

    /// After an attempt that gave this; nothing: it stands.
    std::optional<Nanos> pause_after(const Result<http::Response>& attempt);

private:
    bool is_worth_it(const Result<http::Response>& attempt) const;

    RetryOptions options_;
    Repeat repeat_;
    Random random_;
    std::uint32_t attempts_ = 0;
};

} // namespace sluice::client
