#include "expr/jsonata/internal/arena.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "expr/jsonata/internal/raise.h"

namespace sluice::expr::jsonata::internal {
namespace {

constexpr std::size_t chunk_bytes_max = 1024UL * 1024;

} // namespace

void* Arena::allocate_chunk(std::size_t bytes) {
    auto chunk = std::max(bytes, chunk_bytes_);
    if (bytes > bytes_left_) {
        raise("U1001", "more memory is needed than the budget allows; make smaller values");
    }
    bytes_left_ -= std::min(chunk, bytes_left_);
    chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(chunk));
    auto* begin = chunks_.back().get();
    if (bytes > chunk_bytes_) {
        return begin; // The current chunk still has room for small ones.
    }
    chunk_bytes_ = std::min(2 * chunk_bytes_, chunk_bytes_max);
    next_ = begin + bytes;
    end_ = begin + chunk;
    return begin;
}

std::string_view Arena::copy(std::string_view text) {
    if (text.empty()) {
        return {};
    }
    auto* bytes = static_cast<char*>(allocate(text.size()));
    std::memcpy(bytes, text.data(), text.size());
    return {bytes, text.size()};
}

} // namespace sluice::expr::jsonata::internal
