#pragma once

#include <cstdint>

namespace sluice::connector::amqp::internal {

/// Where a stream is read from: the first message it has, one of the last, those to come, this one.
struct StreamStart {
    enum class At : std::uint8_t { First, Last, Next, Offset };

    At at = At::First;
    std::uint64_t offset = 0;
};

} // namespace sluice::connector::amqp::internal
