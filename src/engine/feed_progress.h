#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "base/result.h"

namespace sluice::engine {

/// Counts what is under way of each partition of a source, and knows up to where all is durable.
/// From any thread.
class FeedProgress {
public:
    /// Parts of a chunk of so many bytes, which goes by its first number, were handed to so many
    /// shards.
    void begin(const std::string& partition, std::uint64_t first, std::uint64_t last,
               std::size_t parts, std::size_t bytes = 0);

    template <typename T>
    void finish(const std::string& partition, std::uint64_t first, const Result<T>& result) {
        finish_part(partition, first, result ? nullptr : &result.error());
    }

    /// All up to here are durable.
    std::uint64_t confirmed(const std::string& partition) const;
    std::size_t under_way(const std::string& partition) const;
    /// What went wrong first; nothing: all is well.
    std::optional<Error> error() const;
    /// Until fewer chunks and bytes are under way than this, of all partitions. False when it was
    /// stopped before.
    Result<bool> wait_for_fewer_than(std::size_t count, std::size_t bytes,
                                     const std::stop_token& stop);
    /// Until nothing is.
    Result<bool> wait_for_all(const std::stop_token& stop) {
        return wait_for_fewer_than(1, 1, stop);
    }

private:
    struct Chunk {
        std::size_t parts = 0;
        std::size_t bytes = 0;
    };
    struct Partition {
        std::map<std::uint64_t, Chunk> chunks; ///< By their first numbers.
        std::uint64_t highest = 0;
    };

    void finish_part(const std::string& partition, std::uint64_t first, const Error* error);

    mutable std::mutex mutex_;
    std::condition_variable_any changed_;
    std::map<std::string, Partition> partitions_;
    std::size_t under_way_ = 0;
    std::size_t bytes_under_way_ = 0;
    std::optional<Error> error_;
};

} // namespace sluice::engine
