#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "resp/commands.h"
#include "resp/reply.h"
#include "store/flat_batch.h"
#include "store/redis/internal/keyspace.h"

namespace sluice::store::redis::internal {

/// What a batch comes to, table by table: ranges go first, then keys, then puts, each key once. The
/// texts are views into the batch.
class Plan {
public:
    /// InvalidInput for a shard that is not there or is fenced twice, LimitExceeded for more than a
    /// server takes at once.
    static Result<Plan> make(const FlatBatch& batch, const Keyspace& keyspace);

    bool is_empty() const { return tables_.empty(); }
    bool is_fenced() const;
    std::uint16_t first_table() const { return tables_.begin()->first; }
    /// A plan for each table: what a cluster can do at once.
    std::vector<Plan> by_table() &&;
    /// One key for each of its tables: see Keyspace::probe_of.
    std::vector<std::string> probes(const Keyspace& keyspace) const;

    /// The call of the script that applies it; `guard` is the writer's number of it, where no
    /// fence keeps it from being done twice.
    void write(resp::Commands& out, std::string_view script, const Keyspace& keyspace,
               std::string_view guard_key, std::string_view guard) const;

    /// What the script's answer says: Stale when a fence did not hold. Once sent before, a shard
    /// that is one commit further under the same epoch is where this batch has brought it.
    Result<void> outcome(const resp::Reply& reply, bool was_sent) const;

private:
    struct Table {
        std::optional<Fence> fence;
        std::vector<std::pair<std::string, std::string>> ranges;
        std::vector<std::string_view> removed;
        std::vector<std::pair<std::string_view, std::string_view>> put;
    };

    std::size_t argument_count() const;

    std::map<std::uint16_t, Table> tables_;
};

} // namespace sluice::store::redis::internal
