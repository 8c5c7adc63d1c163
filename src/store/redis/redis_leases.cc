#include "store/redis/redis_leases.h"

#include <algorithm>
#include <charconv>

#include "store/redis/internal/keyspace.h"
#include "store/redis/internal/pool.h"

namespace sluice::store::redis {

using internal::Call;
using internal::Connection;
using internal::Script;

namespace {

Result<std::uint64_t> whole(std::string_view text) {
    auto number = std::uint64_t{0};
    auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (fault != std::errc{} || end != text.data() + text.size()) {
        return fail(Errc::Corrupt, "Redis has {} where a number should stand", text);
    }
    return number;
}

Result<ShardState> state_of(const resp::Reply& epoch, const resp::Reply& commit) {
    auto state = ShardState{};
    state.epoch = Epoch{TRY(whole(epoch.text()))};
    state.commit = CommitNumber{TRY(whole(commit.text()))};
    return state;
}

/// `1700000000000 address`.
std::string address_in(std::string_view value) {
    auto space = value.find(' ');
    return std::string{value.substr(space == std::string_view::npos ? value.size() : space + 1)};
}

Result<LeaseTable> table_in(const resp::Reply& reply, std::uint16_t shard_count) {
    auto table = LeaseTable{.members = {}, .owners = std::vector<std::string>(shard_count)};
    resp::for_each_pair(reply.item(0), [&](const resp::Reply& id, const resp::Reply& value) {
        table.members.push_back({std::string{id.text()}, address_in(value.text())});
    });
    std::ranges::sort(table.members, {}, &Member::id);
    auto fault = Result<void>{};
    resp::for_each_pair(reply.item(1), [&](const resp::Reply& shard, const resp::Reply& owner) {
        auto number = whole(shard.text());
        if (!number) {
            fault = std::unexpected(std::move(number).error());
        } else if (*number < shard_count) {
            table.owners[*number] = owner.text();
        }
    });
    TRY(std::move(fault));
    return table;
}

Result<resp::Reply> answer_of(Connection& connection) {
    TRY(connection.client().send());
    return resp::checked(TRY(connection.client().receive()));
}

} // namespace

std::string RedisLeases::attempt() const {
    return fmt::format("{}:{}", writer_, number_);
}

Result<LeaseTable> RedisLeases::renew(const Member& member, Nanos lasts) {
    auto millis = std::chrono::ceil<std::chrono::milliseconds>(lasts).count();
    return pool_.ask(keyspace_.owners(), [&](Connection& connection) -> Result<LeaseTable> {
        connection.client().commands().add("EVALSHA", connection.sha(Script::Renew), 2,
                                           keyspace_.members(), keyspace_.owners(), member.id,
                                           millis, member.address);
        return table_in(TRY(answer_of(connection)), keyspace_.shard_count());
    });
}

Result<RedisLeases::Taken> RedisLeases::take(const Member& member,
                                             std::span<const ShardId> shards) {
    TRY(check_known(shards));
    auto lock = std::lock_guard{mutex_};
    ++number_;
    auto claim = TRY(pool_.ask(keyspace_.owners(), [&](Connection& connection) {
        return ask_claim(connection, member, shards);
    }));
    auto taken = TRY(raise(claim.shards, claim.ticket));
    auto missed = claim.shards;
    for (const auto& [shard, state] : taken) {
        std::erase(missed, shard);
    }
    if (!missed.empty()) {
        // Claimed and not taken it would be nobody's work.
        TRY(release(member, missed));
    }
    return taken;
}

Result<RedisLeases::Claim> RedisLeases::ask_claim(Connection& connection, const Member& member,
                                                  std::span<const ShardId> shards) const {
    auto& commands = connection.client().commands();
    commands.begin(3 + 4 + 3 + shards.size());
    commands.argument(std::string_view{"EVALSHA"});
    commands.argument(connection.sha(Script::Claim));
    commands.argument(4);
    commands.argument(keyspace_.members());
    commands.argument(keyspace_.owners());
    commands.argument(keyspace_.claims());
    commands.argument(keyspace_.lease_by(writer_));
    commands.argument(member.id);
    commands.argument(number_);
    commands.argument(attempt());
    for (auto shard : shards) {
        commands.argument(shard.raw());
    }
    auto reply = TRY(answer_of(connection));
    if (reply.text() == "stale") {
        return fail(Errc::Stale, "member {} is not alive: its time is over, renew it first",
                    member.id);
    }
    auto claim = Claim{};
    for (auto at = std::size_t{0}; at + 1 < reply.size(); at += 2) {
        auto shard = TRY(whole(reply.item(at).text()));
        claim.shards.emplace_back(static_cast<std::uint16_t>(shard));
        claim.ticket = reply.item(at + 1).text();
    }
    return claim;
}

Result<RedisLeases::Taken> RedisLeases::raise(std::span<const ShardId> shards,
                                              std::string_view ticket) const {
    auto states = std::vector<std::optional<ShardState>>(shards.size());
    auto at_once = pool_.is_cluster() ? std::size_t{1} : shards.size();
    auto calls = std::vector<Call>{};
    for (auto at = std::size_t{0}; at < shards.size(); at += at_once) {
        calls.push_back(
            raising(shards.subspan(at, at_once), ticket, std::span{states}.subspan(at, at_once)));
    }
    TRY(pool_.ask_all(calls));
    auto taken = Taken{};
    for (auto at = std::size_t{0}; at < shards.size(); ++at) {
        if (const auto& state = states[at]) {
            taken.emplace_back(shards[at], *state);
        }
    }
    return taken;
}

Call RedisLeases::raising(std::span<const ShardId> shards, std::string_view ticket,
                          std::span<std::optional<ShardState>> states) const {
    auto write = [this, shards, ticket](Connection& connection) {
        auto& commands = connection.client().commands();
        commands.begin(3 + shards.size() + 2);
        commands.argument(std::string_view{"EVALSHA"});
        commands.argument(connection.sha(Script::Acquire));
        commands.argument(shards.size());
        for (auto shard : shards) {
            commands.argument(keyspace_.state_of(shard.raw()));
        }
        commands.argument(ticket);
        commands.argument(attempt());
    };
    auto read = [states](Connection& connection, bool /*was_sent*/) -> Result<void> {
        auto reply = TRY(resp::checked(TRY(connection.client().receive())));
        for (auto at = std::size_t{0}; at + 2 < reply.size(); at += 3) {
            auto place = reply.item(at).number();
            if (place < 0 || std::cmp_greater_equal(place, states.size())) {
                return fail(Errc::Corrupt, "Redis took shard {} of {}", place, states.size());
            }
            auto state = TRY(state_of(reply.item(at + 1), reply.item(at + 2)));
            states[static_cast<std::size_t>(place)] = state;
        }
        return {};
    };
    return {.key = keyspace_.state_of(shards.front().raw()), .write = write, .read = read};
}

Result<void> RedisLeases::release(const Member& member, std::span<const ShardId> shards) {
    return pool_.ask(keyspace_.owners(), [&](Connection& connection) -> Result<void> {
        auto& commands = connection.client().commands();
        commands.begin(3 + 2 + 1 + shards.size());
        commands.argument(std::string_view{"EVALSHA"});
        commands.argument(connection.sha(Script::Release));
        commands.argument(2);
        commands.argument(keyspace_.members());
        commands.argument(keyspace_.owners());
        commands.argument(member.id);
        for (auto shard : shards) {
            commands.argument(shard.raw());
        }
        std::ignore = TRY(answer_of(connection));
        return {};
    });
}

Result<void> RedisLeases::leave(const Member& member) {
    return pool_.ask(keyspace_.owners(), [&](Connection& connection) -> Result<void> {
        connection.client().commands().add("EVALSHA", connection.sha(Script::Leave), 2,
                                           keyspace_.members(), keyspace_.owners(), member.id);
        std::ignore = TRY(answer_of(connection));
        return {};
    });
}

Result<std::string> RedisLeases::agree(std::string_view name, std::string_view proposal) {
    auto field = fmt::format("agreed:{}", name);
    TRY(pool_.ask(keyspace_.meta(), [&](Connection& connection) -> Result<void> {
        std::ignore = TRY(connection.client().call("HSETNX", keyspace_.meta(), field, proposal));
        return {};
    }));
    return pool_.ask(keyspace_.meta(), [&](Connection& connection) -> Result<std::string> {
        auto agreed = TRY(connection.client().call("HGET", keyspace_.meta(), field));
        return std::string{agreed.text()};
    });
}

Result<std::vector<ShardState>> RedisLeases::acquire(std::span<const ShardId> shards) {
    TRY(check_known(shards));
    auto lock = std::lock_guard{mutex_};
    for (;;) {
        ++number_;
        auto ticket =
            TRY(pool_.ask(keyspace_.claims(), [&](Connection& connection) -> Result<std::string> {
                auto drawn = TRY(connection.client().call("EVALSHA", connection.sha(Script::Ticket),
                                                          1, keyspace_.claims()));
                return std::string{drawn.text()};
            }));
        auto taken = TRY(raise(shards, ticket));
        // Fewer when somebody took one of them since the ticket was drawn.
        if (taken.size() == shards.size()) {
            auto states = std::vector<ShardState>{};
            for (const auto& [shard, state] : taken) {
                states.push_back(state);
            }
            return states;
        }
    }
}

Result<void> RedisLeases::check_known(std::span<const ShardId> shards) const {
    for (auto shard : shards) {
        if (shard.raw() >= keyspace_.shard_count()) {
            return fail(Errc::InvalidInput, "shard {} does not exist, the store has {}",
                        shard.raw(), keyspace_.shard_count());
        }
    }
    return {};
}

} // namespace sluice::store::redis
