#include "store/redis/internal/scripts.h"

#include <array>
#include <string>

namespace sluice::store::redis::internal {
namespace {

// Lua passes at most some 8000 arguments; a few hundred at a time cost no more.
//
// KEYS: the guard, then state, keys and values of each table. ARGV: the guard's number or nothing,
// then for each table whether it is fenced, epoch, commit, next commit, and how many ranges, keys
// to remove and puts follow. Nothing is written before every fence has held.
constexpr auto apply = std::string_view{R"lua(#!lua
local guard = ARGV[1]
if guard ~= '' then
    local done = redis.call('GET', KEYS[1])
    if done and tonumber(done) >= tonumber(guard) then return 'done' end
end
local tables = (#KEYS - 1) / 3
local at = 2
for number = 1, tables do
    if ARGV[at] == '1' then
        local state = redis.call('HMGET', KEYS[number * 3 - 1], 'epoch', 'commit')
        local epoch, commit = state[1] or '0', state[2] or '0'
        if epoch ~= ARGV[at + 1] or commit ~= ARGV[at + 2] then
            return {number, epoch, commit}
        end
    end
    at = at + 7 + 2 * ARGV[at + 4] + ARGV[at + 5] + 2 * ARGV[at + 6]
end
if guard ~= '' then redis.call('SET', KEYS[1], guard, 'EX', 86400) end

local function remove_range(keys, values, from, to)
    if from == '-' and to == '+' then
        redis.call('UNLINK', keys, values)
        return
    end
    while true do
        local some = redis.call('ZRANGEBYLEX', keys, from, to, 'LIMIT', 0, 1000)
        if #some == 0 then return end
        redis.call('HDEL', values, unpack(some))
        redis.call('ZREM', keys, unpack(some))
    end
end
local function remove(keys, values, first, last)
    for from = first, last, 1000 do
        local to = math.min(from + 999, last)
        if redis.call('HDEL', values, unpack(ARGV, from, to)) > 0 then
            redis.call('ZREM', keys, unpack(ARGV, from, to))
        end
    end
end
local function put(keys, values, first, last)
    for from = first, last, 400 do
        local to = math.min(from + 399, last)
        if redis.call('HSET', values, unpack(ARGV, from, to)) > 0 then
            local scored = {}
            for one = from, to, 2 do
                scored[one - from + 1] = 0
                scored[one - from + 2] = ARGV[one]
            end
            redis.call('ZADD', keys, unpack(scored))
        end
    end
end

at = 2
for number = 1, tables do
    local state, keys, values = KEYS[number * 3 - 1], KEYS[number * 3], KEYS[number * 3 + 1]
    if ARGV[at] == '1' then redis.call('HSET', state, 'commit', ARGV[at + 3]) end
    local ranges, removed, put_count = ARGV[at + 4] + 0, ARGV[at + 5] + 0, ARGV[at + 6] + 0
    at = at + 7
    for range = 1, ranges do
        remove_range(keys, values, ARGV[at], ARGV[at + 1])
        at = at + 2
    end
    remove(keys, values, at, at + removed - 1)
    at = at + removed
    put(keys, values, at, at + 2 * put_count - 1)
    at = at + 2 * put_count
end
return 1
)lua"};

// KEYS: the shards' states. ARGV: a ticket, the name of this attempt. Gives place, epoch and commit
// of those that are this attempt's now: not of one that a later ticket has taken.
constexpr auto acquire = std::string_view{R"lua(#!lua
local out = {}
for number = 1, #KEYS do
    local state = redis.call('HMGET', KEYS[number], 'taken', 'ticket')
    local taken = state[1]
    if taken ~= ARGV[2] and tonumber(state[2] or '0') < tonumber(ARGV[1]) then
        redis.call('HINCRBY', KEYS[number], 'epoch', 1)
        redis.call('HSET', KEYS[number], 'taken', ARGV[2], 'ticket', ARGV[1])
        taken = ARGV[2]
    end
    if taken == ARGV[2] then
        local now_there = redis.call('HMGET', KEYS[number], 'epoch', 'commit')
        out[#out + 1] = number - 1
        out[#out + 1] = now_there[1]
        out[#out + 1] = now_there[2] or '0'
    end
end
return out
)lua"};

// KEYS: keys and values of each piece. ARGV: how many keys and bytes at most, then where each piece
// begins and ends. Gives the piece where more may lie, or 0, and what was found.
constexpr auto page = std::string_view{R"lua(#!lua flags=no-writes
local left, room = tonumber(ARGV[1]), tonumber(ARGV[2])
local out = {0}
for piece = 1, #KEYS / 2 do
    local keys, values = KEYS[piece * 2 - 1], KEYS[piece * 2]
    local from, to = ARGV[piece * 2 + 1], ARGV[piece * 2 + 2]
    while true do
        local asked = math.min(left, 100)
        local found = redis.call('ZRANGEBYLEX', keys, from, to, 'LIMIT', 0, asked)
        if #found == 0 then break end
        local got = redis.call('HMGET', values, unpack(found))
        for number = 1, #found do
            local value = got[number] or ''
            out[#out + 1] = found[number]
            out[#out + 1] = value
            room = room - #found[number] - #value
        end
        left = left - #found
        if left <= 0 or room <= 0 then
            out[1] = piece
            return out
        end
        if #found < asked then break end
        from = '(' .. found[#found]
    end
end
return out
)lua"};

// Tickets rise, whoever draws them, and by the clock even where the last was forgotten.
constexpr auto clock_prelude = std::string_view{R"lua(#!lua
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function draw_ticket(claims)
    local last = tonumber(redis.call('HGET', claims, 'last') or '0')
    local ticket = string.format('%.0f', math.max(last + 1, now))
    redis.call('HSET', claims, 'last', ticket)
    return ticket
end
)lua"};

// KEYS: the claims.
constexpr auto ticket = std::string_view{R"lua(
return draw_ticket(KEYS[1])
)lua"};

// KEYS begin with members and owners. A member's value is when its time is over, in milliseconds,
// and its address.
constexpr auto lease_prelude = std::string_view{R"lua(
local function drop_shards_of(is_gone)
    local owners = redis.call('HGETALL', KEYS[2])
    for at = 1, #owners, 2 do
        if is_gone[owners[at + 1]] then redis.call('HDEL', KEYS[2], owners[at]) end
    end
end
local is_gone, is_any_gone = {}, false
local members = redis.call('HGETALL', KEYS[1])
for at = 1, #members, 2 do
    if tonumber(string.match(members[at + 1], '^%d+')) <= now then
        is_gone[members[at]] = true
        is_any_gone = true
        redis.call('HDEL', KEYS[1], members[at])
    end
end
if is_any_gone then drop_shards_of(is_gone) end
)lua"};

// ARGV: member, how many milliseconds, address.
constexpr auto renew = std::string_view{R"lua(
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f', now + ARGV[2]) .. ' ' .. ARGV[3])
return {redis.call('HGETALL', KEYS[1]), redis.call('HGETALL', KEYS[2])}
)lua"};

// KEYS: also the claims, the guard. ARGV: member, the guard's number, the name of this attempt,
// then the shards. Gives the shards that are this attempt's, each with its ticket: the epoch is
// raised by it elsewhere, and whoever comes there with an earlier one is too late.
constexpr auto claim = std::string_view{R"lua(
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 'stale' end
local done = redis.call('GET', KEYS[4])
local is_repeated = done and tonumber(done) >= tonumber(ARGV[2])
local mark = ''
if not is_repeated then
    redis.call('SET', KEYS[4], ARGV[2], 'EX', 86400)
    mark = draw_ticket(KEYS[3]) .. ' ' .. ARGV[3]
end
local out = {}
for at = 4, #ARGV do
    local owner = redis.call('HGET', KEYS[2], ARGV[at])
    if not owner and not is_repeated then
        redis.call('HSET', KEYS[2], ARGV[at], ARGV[1])
        redis.call('HSET', KEYS[3], ARGV[at], mark)
        owner = ARGV[1]
    end
    local claimed = redis.call('HGET', KEYS[3], ARGV[at]) or ''
    local number, attempt = string.match(claimed, '^(%d+) (.*)$')
    if owner == ARGV[1] and attempt == ARGV[3] then
        out[#out + 1] = ARGV[at]
        out[#out + 1] = number
    end
end
return out
)lua"};

// ARGV: member, then the shards.
constexpr auto release = std::string_view{R"lua(
for at = 2, #ARGV do
    if redis.call('HGET', KEYS[2], ARGV[at]) == ARGV[1] then
        redis.call('HDEL', KEYS[2], ARGV[at])
    end
end
return 1
)lua"};

// ARGV: member.
constexpr auto leave = std::string_view{R"lua(
redis.call('HDEL', KEYS[1], ARGV[1])
drop_shards_of({[ARGV[1]] = true})
return 1
)lua"};

std::string by_clock(std::string_view body) {
    return std::string{clock_prelude} + std::string{body};
}

std::string of_leases(std::string_view body) {
    return by_clock(lease_prelude) + std::string{body};
}

} // namespace

std::string_view text_of(Script script) {
    static const auto texts = std::array<std::string, script_count>{
        std::string{apply}, std::string{acquire}, std::string{page},  by_clock(ticket),
        of_leases(renew),   of_leases(claim),     of_leases(release), of_leases(leave)};
    return texts[static_cast<std::size_t>(script)];
}

} // namespace sluice::store::redis::internal
