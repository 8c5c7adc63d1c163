#include "connector/amqp/internal/stream/frame_buffer.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "connector/amqp/internal/stream/big_endian.h"

namespace sluice::connector::amqp::internal::stream {

namespace {

constexpr auto length_bytes = std::size_t{4};
// What is usual is received into the same place again and again.
constexpr auto usual_capacity = std::size_t{512} * 1024;
constexpr auto room_min = std::size_t{64} * 1024;

} // namespace

std::size_t FrameBuffer::wanted() const {
    return unread() < length_bytes
               ? length_bytes
               : length_bytes + big_endian<std::uint32_t>(bytes_.get() + begin_);
}

void FrameBuffer::move_to(std::size_t capacity) {
    if (capacity == capacity_) {
        std::memmove(bytes_.get(), bytes_.get() + begin_, unread());
    } else {
        auto bytes = std::make_unique_for_overwrite<char[]>(capacity);
        if (unread() > 0) {
            std::memcpy(bytes.get(), bytes_.get() + begin_, unread());
        }
        bytes_ = std::move(bytes);
        capacity_ = capacity;
    }
    end_ -= begin_;
    begin_ = 0;
}

std::span<char> FrameBuffer::room() {
    // One that is too large is refused by `frame`, and must not cost memory first.
    auto needed =
        std::bit_ceil(std::max(std::min(wanted(), frame_bytes_max) + length_bytes, usual_capacity));
    auto is_far_too_large = needed <= capacity_ / 8 && unread() < needed;
    if (needed > capacity_ || is_far_too_large) {
        move_to(needed);
    } else if (capacity_ - end_ < room_min || begin_ + wanted() > capacity_) {
        move_to(capacity_);
    }
    return {bytes_.get() + end_, capacity_ - end_};
}

Result<std::optional<std::string_view>> FrameBuffer::frame() const {
    auto size = wanted();
    if (size > frame_bytes_max) {
        return fail(Errc::Corrupt, "a frame of {} bytes, expected at most {}", size,
                    frame_bytes_max);
    }
    if (unread() < length_bytes || unread() < size) {
        return std::nullopt;
    }
    return std::string_view{bytes_.get() + begin_ + length_bytes, size - length_bytes};
}

void FrameBuffer::drop() {
    begin_ += wanted();
    if (begin_ == end_) {
        begin_ = 0;
        end_ = 0;
    }
}

} // namespace sluice::connector::amqp::internal::stream
