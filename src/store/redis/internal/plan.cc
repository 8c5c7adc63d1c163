#include "store/redis/internal/plan.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace sluice::store::redis::internal {
namespace {

// What a server takes as one command.
constexpr auto arguments_max = std::size_t{1024} * 1024;

struct Change {
    std::string_view key;
    std::string_view value;
    std::size_t number; ///< Its place in the batch.
    bool is_put;
};

struct Range {
    std::string_view from;
    std::string_view to;
    std::size_t number;
};

/// Takes a batch apart.
class Changes final : public Batch {
public:
    void put(std::string_view key, std::string_view value) override {
        changes.push_back({key, value, changes.size() + ranges.size(), true});
    }
    void remove(std::string_view key) override {
        changes.push_back({key, {}, changes.size() + ranges.size(), false});
    }
    void remove_range(std::string_view from, std::string_view to) override {
        ranges.push_back({from, to, changes.size() + ranges.size()});
    }
    void fence(const Fence& /*fence*/) override {}
    std::size_t bytes() const override { return 0; }
    void clear() override {}

    /// One change a key, the last; none where a later range takes it.
    void settle() {
        std::ranges::sort(changes, [](const Change& left, const Change& right) {
            auto order = left.key <=> right.key;
            return order == 0 ? left.number > right.number : order < 0;
        });
        auto repeated = std::ranges::unique(changes, {}, &Change::key);
        changes.erase(repeated.begin(), repeated.end());
        if (!ranges.empty()) {
            std::erase_if(changes, [&](const Change& change) { return is_taken(change); });
        }
    }

    std::vector<Change> changes;
    std::vector<Range> ranges;

private:
    bool is_taken(const Change& change) const {
        return std::ranges::any_of(ranges, [&](const Range& range) {
            return range.number > change.number && change.key >= range.from &&
                   (range.to.empty() || change.key < range.to);
        });
    }
};

Result<void> check(std::span<const Fence> fences, std::uint16_t shard_count) {
    for (auto at = std::size_t{0}; at < fences.size(); ++at) {
        auto shard = fences[at].shard;
        if (shard.raw() >= shard_count) {
            return fail(Errc::InvalidInput, "shard {} does not exist, the store has {}",
                        shard.raw(), shard_count);
        }
        for (const auto& earlier : fences.first(at)) {
            if (earlier.shard == shard) {
                return fail(Errc::InvalidInput, "shard {} is fenced twice in one batch",
                            shard.raw());
            }
        }
    }
    return {};
}

} // namespace

Result<Plan> Plan::make(const FlatBatch& batch, const Keyspace& keyspace) {
    TRY(check(batch.fences(), keyspace.shard_count()));
    auto plan = Plan{};
    for (const auto& fence : batch.fences()) {
        plan.tables_[fence.shard.raw()].fence = fence;
    }
    auto all = Changes{};
    TRY(replay(batch.data(), all));
    all.settle();
    for (const auto& range : all.ranges) {
        for (auto& piece : keyspace.pieces(range.from, range.to)) {
            plan.tables_[piece.table].ranges.emplace_back(std::move(piece.from),
                                                          std::move(piece.to));
        }
    }
    for (const auto& change : all.changes) {
        auto& table = plan.tables_[keyspace.table_of(change.key)];
        if (change.is_put) {
            table.put.emplace_back(change.key, change.value);
        } else {
            table.removed.push_back(change.key);
        }
    }
    if (plan.argument_count() > arguments_max) {
        return fail(Errc::LimitExceeded, "a batch of {} keys and values is more than Redis takes",
                    plan.argument_count());
    }
    return plan;
}

bool Plan::is_fenced() const {
    return std::ranges::any_of(tables_,
                               [](const auto& each) { return each.second.fence.has_value(); });
}

std::vector<Plan> Plan::by_table() && {
    auto plans = std::vector<Plan>{};
    while (!tables_.empty()) {
        auto plan = Plan{};
        plan.tables_.insert(tables_.extract(tables_.begin()));
        plans.push_back(std::move(plan));
    }
    return plans;
}

std::vector<std::string> Plan::probes(const Keyspace& keyspace) const {
    auto keys = std::vector<std::string>{};
    for (const auto& [number, table] : tables_) {
        keys.push_back(keyspace.probe_of(number));
    }
    return keys;
}

std::size_t Plan::argument_count() const {
    auto count = std::size_t{3} + 1 + 1;
    for (const auto& [number, table] : tables_) {
        count += 3 + 7 + 2 * table.ranges.size() + table.removed.size() + 2 * table.put.size();
    }
    return count;
}

void Plan::write(resp::Commands& out, std::string_view script, const Keyspace& keyspace,
                 std::string_view guard_key, std::string_view guard) const {
    out.begin(argument_count());
    out.argument(std::string_view{"EVALSHA"});
    out.argument(script);
    out.argument(1 + 3 * tables_.size());
    out.argument(guard_key);
    for (const auto& [number, table] : tables_) {
        out.argument(keyspace.state_of(number));
        out.argument(keyspace.keys_of(number));
        out.argument(keyspace.values_of(number));
    }
    out.argument(guard);
    for (const auto& [number, table] : tables_) {
        auto has_fence = table.fence.has_value();
        out.argument(has_fence ? 1 : 0);
        out.argument(has_fence ? table.fence->epoch.raw() : 0);
        out.argument(has_fence ? table.fence->stands_on.raw() : 0);
        out.argument(has_fence ? table.fence->stands_on.raw() + 1 : 0);
        out.argument(table.ranges.size());
        out.argument(table.removed.size());
        out.argument(table.put.size());
        for (const auto& [from, to] : table.ranges) {
            out.argument(from);
            out.argument(to);
        }
        for (auto key : table.removed) {
            out.argument(key);
        }
        for (const auto& [key, value] : table.put) {
            out.argument(key);
            out.argument(value);
        }
    }
}

Result<void> Plan::outcome(const resp::Reply& reply, bool was_sent) const {
    if (!reply.is_list()) {
        return {};
    }
    auto place = reply.item(0).number() - 1;
    auto is_known = place >= 0 && std::cmp_less(place, tables_.size());
    auto fence = is_known ? std::next(tables_.begin(), place)->second.fence : std::nullopt;
    if (!fence) {
        return fail(Errc::Corrupt, "Redis refused table {} of {}, which has no fence", place,
                    tables_.size());
    }
    auto epoch = reply.item(1).text();
    auto commit = reply.item(2).text();
    if (was_sent && epoch == std::to_string(fence->epoch.raw()) &&
        commit == std::to_string(fence->stands_on.raw() + 1)) {
        return {};
    }
    return fail(Errc::Stale,
                "shard {} is at epoch {} commit {}, the batch stands on epoch {} commit {}",
                fence->shard.raw(), epoch, commit, fence->epoch.raw(), fence->stands_on.raw());
}

} // namespace sluice::store::redis::internal
