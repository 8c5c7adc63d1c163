#pragma once

#include <array>

namespace sluice::store::postgres {

/// Every statement that a connection has prepared. Tables are found by the search path.
struct Statement {
    const char* name;
    const char* text;
};

namespace statements {

inline constexpr auto begin = Statement{"begin", "BEGIN"};
inline constexpr auto commit = Statement{"commit", "COMMIT"};

/// Locks rows in their order, so that two that need the same ones cannot wait for each other.
inline constexpr auto hold = Statement{
    "hold", "SELECT shard FROM shards WHERE shard = ANY($1::int[]) ORDER BY shard FOR UPDATE"};
/// Divides by 0 when not every fence found its shard: nothing of the transaction then stays, and
/// nobody has to wait for the count.
inline constexpr auto fence = Statement{
    "fence",
    "WITH moved AS (UPDATE shards s SET commit = s.commit + 1"
    " FROM unnest($1::int[], $2::bigint[], $3::bigint[]) AS f (shard, epoch, stands_on)"
    " WHERE s.shard = f.shard AND s.epoch = f.epoch AND s.commit = f.stands_on RETURNING 1)"
    " SELECT 1 / (count(*) = cardinality($1))::int FROM moved"};
/// The same for a single fence, without the join.
inline constexpr auto fence_one =
    Statement{"fence_one",
              "WITH moved AS (UPDATE shards SET commit = commit + 1"
              " WHERE shard = $1::int AND epoch = $2::bigint AND commit = $3::bigint RETURNING 1)"
              " SELECT 1 / count(*)::int FROM moved"};
inline constexpr auto remove_ranges =
    Statement{"remove_ranges",
              "DELETE FROM entries USING unnest($1::bytea[], $2::bytea[]) AS r (low, high)"
              " WHERE key >= r.low AND key < r.high"};
inline constexpr auto remove_tail =
    Statement{"remove_tail", "DELETE FROM entries WHERE key >= $1::bytea"};
inline constexpr auto remove_keys =
    Statement{"remove_keys", "DELETE FROM entries WHERE key = ANY($1::bytea[])"};
inline constexpr auto put =
    Statement{"put",
              "INSERT INTO entries (key, value) SELECT * FROM unnest($1::bytea[], $2::bytea[])"
              " ON CONFLICT (key) DO UPDATE SET value = excluded.value"};
/// Writes something, so that its commit waits for everything before it.
inline constexpr auto touch =
    Statement{"touch", "UPDATE meta SET value = value WHERE name = 'format'"};

inline constexpr auto states =
    Statement{"states", "SELECT shard, epoch, commit FROM shards WHERE shard = ANY($1::int[])"};
inline constexpr auto raise =
    Statement{"raise",
              "UPDATE shards SET epoch = epoch + 1 WHERE shard = ANY($1::int[])"
              " RETURNING shard, epoch, commit"};
/// Ends a connection of ours whose transaction may still be at work. No row: it is gone already.
inline constexpr auto end_backend =
    Statement{"end_backend",
              "SELECT pg_terminate_backend(pid, $3::bigint) FROM pg_stat_activity"
              " WHERE pid = $1::int AND"
              " (extract(epoch FROM backend_start) * 1000000)::bigint = $2::bigint"};

/// Ends those who began a transaction on shards or members and stopped in the middle of sending it:
/// processes that were paused.
inline constexpr auto end_stuck = Statement{
    "end_stuck",
    "SELECT pg_terminate_backend(a.pid) FROM pg_stat_activity a"
    " WHERE a.usename = current_user AND a.pid <> pg_backend_pid() AND a.wait_event = 'ClientRead'"
    " AND a.xact_start < clock_timestamp() - $1::bigint * interval '1 millisecond'"
    " AND EXISTS (SELECT FROM pg_locks l WHERE l.pid = a.pid AND l.mode <> 'AccessShareLock'"
    " AND l.relation IN ('shards'::regclass, 'members'::regclass))"};

inline constexpr auto get = Statement{"get", "SELECT value FROM entries WHERE key = $1::bytea"};
inline constexpr auto page =
    Statement{"page",
              "SELECT key, value FROM entries WHERE key >= $1::bytea AND key < $2::bytea"
              " ORDER BY key LIMIT $3::int"};
inline constexpr auto page_to_end =
    Statement{"page_to_end",
              "SELECT key, value FROM entries WHERE key >= $1::bytea ORDER BY key LIMIT $2::int"};
inline constexpr auto table_bytes =
    Statement{"table_bytes",
              "SELECT (pg_total_relation_size('entries') + pg_total_relation_size('shards')"
              " + pg_total_relation_size('members'))::bigint"};

/// One at a time may change who owns what.
inline constexpr auto lock_leases = Statement{
    "lock_leases", "SELECT pg_advisory_xact_lock(1398162761, 'members'::regclass::oid::int)"};
/// Coming back after its end, a member is another one to the shards it had: it gets a new term.
inline constexpr auto renew = Statement{
    "renew",
    "INSERT INTO members AS m (id, address, ends)"
    " VALUES ($1::text, $2::text, clock_timestamp() + $3::bigint * interval '1 microsecond')"
    " ON CONFLICT (id) DO UPDATE SET address = excluded.address, ends = excluded.ends,"
    " term = CASE WHEN m.ends > clock_timestamp() THEN m.term ELSE excluded.term END"};
inline constexpr auto forget_dead = Statement{
    "forget_dead", "DELETE FROM members WHERE ends < clock_timestamp() - interval '1 hour'"};
inline constexpr auto owners = Statement{
    "owners",
    "SELECT m.id, m.address, s.shard FROM members m LEFT JOIN shards s ON s.owner = m.term"
    " WHERE m.ends > clock_timestamp() ORDER BY m.id"};
inline constexpr auto is_alive =
    Statement{"is_alive", "SELECT 1 FROM members WHERE id = $1::text AND ends > clock_timestamp()"};
/// The third parameter is 1 when an earlier attempt may have taken some without our knowing.
inline constexpr auto take = Statement{
    "take",
    "UPDATE shards s SET epoch = s.epoch + 1, owner = m.term FROM members m"
    " WHERE m.id = $1::text AND m.ends > clock_timestamp() AND s.shard = ANY($2::int[])"
    " AND (NOT EXISTS (SELECT FROM members o WHERE o.term = s.owner AND o.ends > clock_timestamp())"
    " OR (s.owner = m.term AND $3::int = 1))"
    " RETURNING s.shard, s.epoch, s.commit"};
inline constexpr auto release =
    Statement{"release",
              "UPDATE shards SET owner = NULL WHERE shard = ANY($2::int[])"
              " AND owner = (SELECT term FROM members WHERE id = $1::text)"};
inline constexpr auto leave = Statement{"leave", "DELETE FROM members WHERE id = $1::text"};
inline constexpr auto propose =
    Statement{"propose", "INSERT INTO meta VALUES ($1::text, $2::text) ON CONFLICT DO NOTHING"};
inline constexpr auto agreed = Statement{"agreed", "SELECT value FROM meta WHERE name = $1::text"};

inline constexpr auto all = std::array{
    begin,       commit,   hold,        fence,       fence_one,   remove_ranges, remove_tail,
    remove_keys, put,      touch,       states,      raise,       end_backend,   end_stuck,
    get,         page,     page_to_end, table_bytes, lock_leases, renew,         forget_dead,
    owners,      is_alive, take,        release,     leave,       propose,       agreed};

} // namespace statements
} // namespace sluice::store::postgres
