#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace sluice::expr::jsonata::internal {

/// The memory of one evaluation, freed all at once. What lies in it has no destructor.
class Arena {
public:
    explicit Arena(std::size_t bytes_max) : bytes_left_{bytes_max} {}
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;

    /// Raises U1001 when the budget is spent.
    void* allocate(std::size_t bytes) {
        bytes = (bytes + alignment - 1) & ~(alignment - 1);
        if (bytes > static_cast<std::size_t>(end_ - next_)) {
            return allocate_chunk(bytes);
        }
        return std::exchange(next_, next_ + bytes);
    }

    template <typename T>
    T* make() {
        static_assert(std::is_trivially_destructible_v<T>);
        return new (allocate(sizeof(T))) T{};
    }

    template <typename T>
    T* make_many(std::size_t count) {
        static_assert(std::is_trivially_destructible_v<T>);
        return new (allocate(count * sizeof(T))) T[count]{};
    }

    std::string_view copy(std::string_view text);

private:
    static constexpr std::size_t alignment = 8;
    static constexpr std::size_t first_bytes = 4096;

    void* allocate_chunk(std::size_t bytes);

    alignas(alignment) std::array<std::byte, first_bytes> first_;
    std::byte* next_ = first_.data();
    std::byte* end_ = first_.data() + first_bytes;
    std::size_t bytes_left_;
    std::size_t chunk_bytes_ = 2 * first_bytes;
    std::vector<std::unique_ptr<std::byte[]>> chunks_;
};

} // namespace sluice::expr::jsonata::internal
