#include "store/postgres/internal/committer.h"

#include <algorithm>

namespace sluice::store::postgres {
namespace {

/// How long a refusal for want of space is remembered before the next commit is let through to try.
constexpr auto refusal_lasts = Nanos{std::chrono::seconds{1}};

Nanos steady_now() {
    return std::chrono::steady_clock::now().time_since_epoch();
}

ArrayParameter shards_of(std::span<const Fence> fences) {
    auto array = ArrayParameter{Type::Int4, fences.size()};
    for (const auto& fence : fences) {
        array.add_int4(fence.shard.raw());
    }
    return array;
}

Result<void> check_fences(std::span<const Fence> fences, std::uint16_t count) {
    for (auto at = std::size_t{0}; at < fences.size(); ++at) {
        TRY(check_known({&fences[at].shard, 1}, count));
        auto earlier = fences.first(at);
        if (std::ranges::find(earlier, fences[at].shard, &Fence::shard) != earlier.end()) {
            return fail(Errc::InvalidInput, "shard {} is fenced twice in one batch",
                        fences[at].shard.raw());
        }
    }
    return {};
}

enum class Fate : std::uint8_t { Applied, Undone, Refused };

Fate fate_of(const Rows& states, std::span<const Fence> fences) {
    auto is_applied = true;
    auto is_undone = true;
    for (auto row = 0; row < states.count(); ++row) {
        auto shard = ShardId{static_cast<std::uint16_t>(states.number(row, 0))};
        auto fence = std::ranges::find(fences, shard, &Fence::shard);
        auto has_epoch = states.number(row, 1) == static_cast<std::int64_t>(fence->epoch.raw());
        auto ahead = states.number(row, 2) - static_cast<std::int64_t>(fence->stands_on.raw());
        is_applied = is_applied && has_epoch && ahead == 1;
        is_undone = is_undone && has_epoch && ahead == 0;
    }
    // Without fences it is done again: putting the same once more changes nothing.
    return is_undone ? Fate::Undone : is_applied ? Fate::Applied : Fate::Refused;
}

} // namespace

Result<void> check_known(std::span<const ShardId> shards, std::uint16_t count) {
    for (auto shard : shards) {
        if (shard.raw() >= count) {
            return fail(Errc::InvalidInput, "shard {} does not exist, the store has {}",
                        shard.raw(), count);
        }
    }
    return {};
}

Result<void> Committer::commit(const FlatBatch& batch) {
    auto lock = std::lock_guard{mutex_};
    if (broken_) {
        return std::unexpected(*broken_);
    }
    TRY(check_fences(batch.fences(), shard_count_));
    auto changes = TRY(changes_of(batch.data()));
    auto request = CommitRequest{changes, batch.fences()};

    auto retry = Retry{options_, "a commit"};
    for (;;) {
        auto done = attempt(request, batch.fences());
        if (done) {
            refused_at_ = 0;
            return {};
        }
        note(done.error());
        if (done.error().trouble == Trouble::Fenced) {
            is_in_limbo_ = false;
            return std::unexpected(stale(batch.fences()));
        }
        if (!retry.wait(done.error())) {
            auto error = retry.error_of(done.error());
            if (is_in_limbo_) {
                error.message += "; whether the commit happened is not known";
                broken_ = error;
            }
            return std::unexpected(std::move(error));
        }
    }
}

bool Committer::is_writable() const {
    auto refused = Nanos{refused_at_.load()};
    return refused == Nanos{0} || steady_now() - refused > refusal_lasts;
}

Outcome<void> Committer::attempt(const CommitRequest& request, std::span<const Fence> fences) {
    auto* connection = TRY(session_.connection());
    auto outcome = Outcome<void>{};
    if (is_in_limbo_) {
        auto is_applied = settle(*connection, fences);
        if (!is_applied) {
            outcome = std::unexpected(is_applied.error());
        } else {
            is_in_limbo_ = false;
            outcome = *is_applied ? Outcome<void>{} : send(*connection, request);
        }
    } else {
        outcome = send(*connection, request);
    }
    if (!outcome) {
        session_.heed(outcome.error());
    }
    return outcome;
}

Outcome<void> Committer::send(Connection& connection, const CommitRequest& request) {
    auto done = connection.run(request.calls());
    if (!done) {
        if (done.error().trouble == Trouble::Lost) {
            is_in_limbo_ = true;
        }
        return std::unexpected(std::move(done).error());
    }
    // A commit whose wait for a replica was broken off ends with a warning alone.
    if (connection.has_warned()) {
        is_in_limbo_ = true;
        TRY(await_durable(connection));
        is_in_limbo_ = false;
    }
    return {};
}

Outcome<bool> Committer::settle(Connection& connection, std::span<const Fence> fences) {
    auto shards = shards_of(fences);
    auto states = TRY(connection.run_one({statements::states, {shards.bytes()}}));
    switch (fate_of(states, fences)) {
        case Fate::Undone: return false;
        case Fate::Refused:
            return std::unexpected(
                Failure{.trouble = Trouble::Fenced, .code = Errc::Stale, .message = {}});
        case Fate::Applied: break;
    }
    TRY(await_durable(connection));
    return true;
}

Outcome<void> Committer::await_durable(Connection& connection) const {
    if (options_.durability != Durability::Strict) {
        return {};
    }
    TRY(connection.run_one(statements::touch));
    if (connection.has_warned()) {
        return std::unexpected(Failure{.trouble = Trouble::Busy,
                                       .code = Errc::Unavailable,
                                       .message = "the wait for a replica was broken off"});
    }
    return {};
}

Error Committer::stale(std::span<const Fence> fences) {
    auto shards = shards_of(fences);
    auto look = [&](Connection& connection) {
        return connection.run_one({statements::states, {shards.bytes()}});
    };
    auto states = session_.attempt(look);
    for (auto row = 0; states && row < states->count(); ++row) {
        auto shard = ShardId{static_cast<std::uint16_t>(states->number(row, 0))};
        auto fence = std::ranges::find(fences, shard, &Fence::shard);
        auto epoch = static_cast<std::uint64_t>(states->number(row, 1));
        auto commit = static_cast<std::uint64_t>(states->number(row, 2));
        if (epoch == fence->epoch.raw() && commit == fence->stands_on.raw()) {
            continue;
        }
        auto is_behind = epoch < fence->epoch.raw() ||
                         (epoch == fence->epoch.raw() && commit < fence->stands_on.raw());
        return {
            Errc::Stale,
            fmt::format("shard {} is at epoch {} commit {}, the batch stands on epoch {} "
                        "commit {}{}",
                        shard.raw(), epoch, commit, fence->epoch.raw(), fence->stands_on.raw(),
                        is_behind ? ": the server has lost commits that it had acknowledged" : "")};
    }
    return {Errc::Stale, "a fence of the batch did not match"};
}

void Committer::note(const Failure& failure) {
    if (failure.trouble == Trouble::Full || failure.trouble == Trouble::ReadOnly) {
        refused_at_ = steady_now().count();
    }
}

} // namespace sluice::store::postgres
