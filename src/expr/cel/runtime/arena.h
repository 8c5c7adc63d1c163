#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "value/value.h"

namespace sluice::expr::cel::runtime {

/// What an evaluation makes lives here until it ends; nothing is freed on its own. Small ones never
/// reach the heap.
class Arena {
public:
    explicit Arena(std::size_t bytes_max) : bytes_left_{bytes_max} {}
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;
    ~Arena() { std::destroy_n(reinterpret_cast<Value*>(first_kept_), kept_); }

    /// Null when the limit is reached. Aligned for anything here.
    void* allocate(std::size_t bytes) {
        bytes = (bytes + 15U) & ~std::size_t{15};
        if (bytes > free_.size()) {
            return allocate_chunk(bytes);
        }
        auto* place = free_.data();
        free_ = free_.subspan(bytes);
        return place;
    }

    /// Of types that need no destructor. Without elements when the limit is reached.
    template <typename T>
    std::span<T> make(std::size_t count) {
        static_assert(std::is_trivially_destructible_v<T>);
        if (count > bytes_left_ / sizeof(T) + inline_bytes) {
            return {};
        }
        auto* place = static_cast<T*>(allocate(count * sizeof(T)));
        if (place == nullptr) {
            return {};
        }
        std::uninitialized_value_construct_n(place, count);
        return {place, count};
    }

    /// Keeps a value where it is for as long as the arena.
    const Value& keep(Value value) {
        if (kept_ < first_kept_max) {
            auto* place = reinterpret_cast<Value*>(first_kept_) + kept_++;
            return *new (place) Value{std::move(value)};
        }
        return keep_more(std::move(value));
    }

private:
    static constexpr std::size_t inline_bytes = 768;
    static constexpr std::size_t first_kept_max = 6;

    void* allocate_chunk(std::size_t bytes);
    const Value& keep_more(Value value);

    std::size_t bytes_left_;
    std::size_t kept_ = 0;
    alignas(16) std::byte first_[inline_bytes]; // NOLINT: left as it is, on purpose.
    std::span<std::byte> free_{first_};
    std::vector<std::unique_ptr<std::byte[]>> chunks_;
    alignas(Value) std::byte first_kept_[first_kept_max * sizeof(Value)]; // NOLINT: likewise.
    std::unique_ptr<std::deque<Value>> more_kept_; ///< Made when it is needed: it takes memory.
};

} // namespace sluice::expr::cel::runtime
