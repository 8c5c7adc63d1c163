#include "engine/feed_progress.h"

#include <algorithm>

namespace sluice::engine {

void FeedProgress::begin(const std::string& partition, std::uint64_t first, std::uint64_t last,
                         std::size_t parts, std::size_t bytes) {
    auto lock = std::lock_guard{mutex_};
    auto& entry = partitions_[partition];
    entry.highest = std::max(entry.highest, last);
    if (parts > 0) {
        auto& chunk = entry.chunks[first];
        under_way_ += chunk.parts == 0 ? 1 : 0;
        bytes_under_way_ += bytes;
        chunk.parts += parts;
        chunk.bytes += bytes;
    }
}

void FeedProgress::finish_part(const std::string& partition, std::uint64_t first,
                               const Error* error) {
    auto lock = std::lock_guard{mutex_};
    if (error != nullptr) {
        // It stays under way: nothing from there on is confirmed.
        error_ = error_ ? error_ : *error;
    } else {
        auto& chunks = partitions_[partition].chunks;
        if (auto found = chunks.find(first); --found->second.parts == 0) {
            --under_way_;
            bytes_under_way_ -= found->second.bytes;
            chunks.erase(found);
        }
    }
    changed_.notify_all();
}

std::uint64_t FeedProgress::confirmed(const std::string& partition) const {
    auto lock = std::lock_guard{mutex_};
    auto found = partitions_.find(partition);
    if (found == partitions_.end()) {
        return 0;
    }
    const auto& [chunks, highest] = found->second;
    return chunks.empty() ? highest : chunks.begin()->first - 1;
}

std::size_t FeedProgress::under_way(const std::string& partition) const {
    auto lock = std::lock_guard{mutex_};
    auto found = partitions_.find(partition);
    return found == partitions_.end() ? 0 : found->second.chunks.size();
}

std::optional<Error> FeedProgress::error() const {
    auto lock = std::lock_guard{mutex_};
    return error_;
}

Result<bool> FeedProgress::wait_for_fewer_than(std::size_t count, std::size_t bytes,
                                               const std::stop_token& stop) {
    auto lock = std::unique_lock{mutex_};
    auto is_over = changed_.wait(lock, stop, [&] {
        return (under_way_ < count && bytes_under_way_ < bytes) || error_.has_value();
    });
    if (error_) {
        return std::unexpected(*error_);
    }
    return is_over;
}

} // namespace sluice::engine
