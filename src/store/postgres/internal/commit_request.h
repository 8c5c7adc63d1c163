#pragma once

#include <deque>
#include <span>
#include <vector>

#include "store/postgres/internal/changes.h"
#include "store/postgres/internal/connection.h"
#include "store/postgres/internal/parameters.h"
#include "store/store.h"

namespace sluice::store::postgres {

/// The numbers of shards as a parameter.
ArrayParameter array_of(std::span<const ShardId> shards);

/// One commit as the statements of one transaction.
class CommitRequest {
public:
    CommitRequest(const Changes& changes, std::span<const Fence> fences);
    CommitRequest(const CommitRequest&) = delete;
    CommitRequest& operator=(const CommitRequest&) = delete;

    std::span<const Call> calls() const { return calls_; }

private:
    void add_fences(std::span<const Fence> fences);
    void add_removals(const Changes& changes);
    /// In several statements when it is much, so that no message grows beyond what a server takes.
    void add_puts(const Changes& changes);
    std::string_view keep(std::string parameter);

    std::deque<std::string> parameters_; // The calls point into them.
    std::vector<Call> calls_;
};

} // namespace sluice::store::postgres
