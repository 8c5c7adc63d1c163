#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"

namespace sluice::connector::amqp::internal::stream {

/// Bytes as a socket brings them, cut into frames. Frames stay where they were received, so what
/// lies in one is copied first by whoever wants to keep it.
class FrameBuffer {
public:
    /// Of a frame with its size. A chunk with one message of AMQP's largest is less than half.
    static constexpr auto frame_bytes_max = std::size_t{300} << 20U;

    /// Where the next bytes go: never empty, unless a frame is there. What `frame` gave moves.
    std::span<char> room();
    void add(std::size_t size) { end_ += size; }

    /// The first frame without its size, once all of it is there; the same until `drop`. Fails with
    /// Corrupt when it is too large.
    Result<std::optional<std::string_view>> frame() const;
    void drop();

private:
    std::size_t unread() const { return end_ - begin_; }
    /// Of the first frame with its size, as far as that is known.
    std::size_t wanted() const;
    void move_to(std::size_t capacity);

    std::unique_ptr<char[]> bytes_;
    std::size_t capacity_ = 0;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
};

} // namespace sluice::connector::amqp::internal::stream
