#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

namespace sluice::resp::internal {

/// Bytes that were received and not used yet. Room is not cleared before it is read into.
class ReceiveBuffer {
public:
    std::string_view unread() const { return {bytes_.get() + begin_, end_ - begin_}; }
    void consume(std::size_t size) {
        begin_ += size;
        if (begin_ == end_) {
            begin_ = end_ = 0;
        }
    }
    /// Where so many more bytes can go; what is unread may move.
    std::span<char> room(std::size_t size) {
        if (capacity_ - end_ < size) {
            make_room(size);
        }
        return {bytes_.get() + end_, capacity_ - end_};
    }
    void add(std::size_t size) { end_ += size; }

private:
    void make_room(std::size_t size) {
        auto kept = end_ - begin_;
        if (kept + size > capacity_) {
            auto capacity = std::max(kept + size, capacity_ * 2);
            auto larger = std::make_unique_for_overwrite<char[]>(capacity);
            std::memcpy(larger.get(), unread().data(), kept);
            bytes_ = std::move(larger);
            capacity_ = capacity;
        } else {
            std::memmove(bytes_.get(), bytes_.get() + begin_, kept);
        }
        begin_ = 0;
        end_ = kept;
    }

    static constexpr std::size_t start_bytes = 16UL * 1024;

    std::unique_ptr<char[]> bytes_ = std::make_unique_for_overwrite<char[]>(start_bytes);
    std::size_t capacity_ = start_bytes;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
};

} // namespace sluice::resp::internal
