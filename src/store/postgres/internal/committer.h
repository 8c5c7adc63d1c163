#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>

#include "store/flat_batch.h"
#include "store/postgres/internal/commit_request.h"
#include "store/postgres/internal/session.h"

namespace sluice::store::postgres {

/// InvalidInput for a shard that the store does not have.
Result<void> check_known(std::span<const ShardId> shards, std::uint16_t count);

/// Brings commits to the server, each exactly once, also over lost connections.
///
/// When a connection is lost in the middle of a commit, nobody knows whether it happened. Once the
/// old connection can do nothing more, the next one looks where the shards stand: their commit
/// numbers tell.
class Committer {
public:
    Committer(const Options& options, std::uint16_t shard_count)
        : options_(options), shard_count_(shard_count), session_(options, Role::Commits) {}

    Result<void> commit(const FlatBatch& batch);
    /// No for a while after the server refused a write for want of space or for being read-only.
    bool is_writable() const;

private:
    Outcome<void> attempt(const CommitRequest& request, std::span<const Fence> fences);
    Outcome<void> send(Connection& connection, const CommitRequest& request);
    /// What became of the attempt that was lost: done when it was applied. Otherwise it can be
    /// made again.
    Outcome<bool> settle(Connection& connection, std::span<const Fence> fences);
    /// Until everything that the server has applied is as durable as it should be.
    Outcome<void> await_durable(Connection& connection) const;
    Error stale(std::span<const Fence> fences);
    void note(const Failure& failure);

    const Options& options_;
    std::uint16_t shard_count_;
    std::mutex mutex_;
    Session session_;
    bool is_in_limbo_ = false; ///< An attempt was sent whose end we do not know.
    std::optional<Error> broken_;
    std::atomic<std::int64_t> refused_at_ = 0; ///< Steady nanoseconds; 0: never.
};

} // namespace sluice::store::postgres
