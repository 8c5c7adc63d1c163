#include "expr/cel/runtime/arena.h"

#include <algorithm>

namespace sluice::expr::cel::runtime {

void* Arena::allocate_chunk(std::size_t bytes) {
    constexpr auto chunk_bytes_min = std::size_t{4096};
    constexpr auto chunk_bytes_max = std::size_t{256} * 1024;
    if (bytes > bytes_left_) {
        return nullptr;
    }
    // Growing chunks: their number stays small, and what is left over of one too.
    auto wanted =
        std::min(chunk_bytes_min << std::min<std::size_t>(chunks_.size(), 6), chunk_bytes_max);
    auto size = std::min(std::max(wanted, bytes), bytes_left_);
    bytes_left_ -= size;
    auto& chunk = chunks_.emplace_back(new std::byte[size]);
    free_ = {chunk.get() + bytes, size - bytes};
    return chunk.get();
}

const Value& Arena::keep_more(Value value) {
    if (!more_kept_) {
        more_kept_ = std::make_unique<std::deque<Value>>();
    }
    return more_kept_->emplace_back(std::move(value));
}

} // namespace sluice::expr::cel::runtime
