#include "store/postgres/internal/postgres_leases.h"

#include <algorithm>

#include "store/postgres/internal/commit_request.h"
#include "store/postgres/internal/committer.h"

namespace sluice::store::postgres {
namespace {

Result<void> check_member(const Member& member) {
    if (member.id.empty()) {
        return fail(Errc::InvalidInput, "a member's id is empty, which means nobody");
    }
    return {};
}

LeaseTable table_of(const Rows& rows, std::uint16_t shard_count) {
    auto table = LeaseTable{.members = {}, .owners = std::vector<std::string>(shard_count)};
    for (auto row = 0; row < rows.count(); ++row) {
        auto id = rows.bytes(row, 0);
        if (table.members.empty() || table.members.back().id != id) {
            table.members.push_back({std::string{id}, std::string{rows.bytes(row, 1)}});
        }
        if (!rows.is_null(row, 2)) {
            table.owners.at(static_cast<std::size_t>(rows.number(row, 2))) = id;
        }
    }
    return table;
}

} // namespace

Result<LeaseTable> PostgresLeases::renew(const Member& member, Nanos lasts) {
    TRY(check_member(member));
    auto micros = int8(std::chrono::duration_cast<std::chrono::microseconds>(lasts).count());
    auto calls = std::vector<Call>{statements::begin,
                                   statements::lock_leases,
                                   {statements::renew, {member.id, member.address, micros}},
                                   statements::forget_dead,
                                   statements::owners,
                                   statements::commit};
    auto rows = TRY(session_.insist("renewing leases", [&](Connection& connection) {
        return connection.run_past_stuck(calls);
    }));
    return table_of(rows[4], shard_count_);
}

Result<std::vector<std::pair<ShardId, ShardState>>> PostgresLeases::take(
    const Member& member, std::span<const ShardId> shards) {
    TRY(check_member(member));
    TRY(check_known(shards, shard_count_));
    auto named = array_of(shards);
    auto is_again = false;
    auto rows = TRY(session_.insist("taking shards", [&](Connection& connection) {
        auto again = int4(is_again ? 1 : 0);
        auto calls = std::vector<Call>{statements::begin,
                                       statements::lock_leases,
                                       {statements::is_alive, {member.id}},
                                       {statements::hold, {named.bytes()}},
                                       {statements::take, {member.id, named.bytes(), again}},
                                       statements::commit};
        auto outcome = connection.run_past_stuck(calls);
        is_again = is_again || (!outcome && outcome.error().trouble == Trouble::Lost);
        return outcome;
    }));
    if (rows[2].count() == 0) {
        return fail(Errc::Stale, "member {} is not alive: its lease has ended", member.id);
    }
    auto taken = std::vector<std::pair<ShardId, ShardState>>{};
    for (auto row = 0; row < rows[4].count(); ++row) {
        auto number = [&](int column) {
            return static_cast<std::uint64_t>(rows[4].number(row, column));
        };
        taken.emplace_back(ShardId{static_cast<std::uint16_t>(number(0))},
                           ShardState{Epoch{number(1)}, CommitNumber{number(2)}});
    }
    std::ranges::sort(taken, {}, [](const auto& pair) { return pair.first; });
    return taken;
}

Result<void> PostgresLeases::release(const Member& member, std::span<const ShardId> shards) {
    TRY(check_known(shards, shard_count_));
    auto named = array_of(shards);
    auto calls = std::vector<Call>{statements::begin,
                                   statements::lock_leases,
                                   {statements::hold, {named.bytes()}},
                                   {statements::release, {member.id, named.bytes()}},
                                   statements::commit};
    std::ignore = TRY(session_.insist("releasing shards", [&](Connection& connection) {
        return connection.run_past_stuck(calls);
    }));
    return {};
}

Result<void> PostgresLeases::leave(const Member& member) {
    auto calls = std::vector<Call>{statements::begin,
                                   statements::lock_leases,
                                   {statements::leave, {member.id}},
                                   statements::commit};
    std::ignore = TRY(session_.insist(
        "leaving", [&](Connection& connection) { return connection.run_past_stuck(calls); }));
    return {};
}

Result<std::string> PostgresLeases::agree(std::string_view name, std::string_view proposal) {
    auto field = fmt::format("agreed:{}", name);
    auto calls =
        std::vector<Call>{{statements::propose, {field, proposal}}, {statements::agreed, {field}}};
    auto rows = TRY(session_.insist(
        "agreeing", [&](Connection& connection) { return connection.run_past_stuck(calls); }));
    if (rows[1].count() != 1) {
        return fail(Errc::Corrupt, "the table meta has no {} that was just written", field);
    }
    return std::string{rows[1].bytes(0, 0)};
}

} // namespace sluice::store::postgres
