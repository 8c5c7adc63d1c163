#include "store/postgres/internal/layout.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <string>

#include "store/postgres/internal/session.h"

namespace sluice::store::postgres {
namespace {

// docs/formats/postgres.md and docs/decisions/0029 have the reasons for every setting.
constexpr auto tables_sql = R"(
BEGIN;
SELECT pg_advisory_xact_lock(1398162761, 0);
DO $$ BEGIN
    IF to_regnamespace('{schema}') IS NULL THEN CREATE SCHEMA "{schema}"; END IF;
END $$;
CREATE TABLE IF NOT EXISTS meta (name text PRIMARY KEY, value text NOT NULL);
CREATE TABLE IF NOT EXISTS shards (
    shard int PRIMARY KEY,
    epoch bigint NOT NULL DEFAULT 0,
    commit bigint NOT NULL DEFAULT 0,
    owner bigint
) WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_cost_delay = 0);
CREATE TABLE IF NOT EXISTS members (
    id text COLLATE "C" PRIMARY KEY,
    address text NOT NULL,
    ends timestamptz NOT NULL,
    term bigint GENERATED ALWAYS AS IDENTITY UNIQUE
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
CREATE TABLE IF NOT EXISTS entries (
    key bytea PRIMARY KEY,
    value bytea NOT NULL
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 10000,
    autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0.2,
    toast.autovacuum_vacuum_scale_factor = 0.05, toast.autovacuum_vacuum_threshold = 10000,
    toast.autovacuum_vacuum_cost_delay = 0);
ALTER TABLE entries ALTER key SET STORAGE PLAIN, ALTER value SET STORAGE EXTERNAL;
INSERT INTO meta VALUES ('format', '{format}'), ('shards', '{shards}'), ('created_by', '{version}')
    ON CONFLICT DO NOTHING;
INSERT INTO shards (shard)
    SELECT generate_series(0, (SELECT value::int FROM meta WHERE name = 'shards') - 1)
    ON CONFLICT DO NOTHING;
COMMIT;
)";

std::string creation_of(const Options& options) {
    return fmt::format(fmt::runtime(tables_sql), fmt::arg("schema", options.schema),
                       fmt::arg("format", layout_format), fmt::arg("shards", options.shard_count),
                       fmt::arg("version", SLUICE_VERSION));
}

std::optional<int> number_of(std::string_view text) {
    auto number = 0;
    auto [end, problem] = std::from_chars(text.begin(), text.end(), number);
    return problem == std::errc{} && end == text.end() ? std::optional{number} : std::nullopt;
}

/// The server's own words: its SQLSTATE does not come with a connection that fails.
bool is_final(const Failure& failure) {
    constexpr auto words = std::array<std::string_view, 5>{
        "authentication failed", "does not exist", "no pg_hba.conf entry", "no password supplied",
        "certificate verify failed"};
    return failure.trouble == Trouble::Lost && std::ranges::any_of(words, [&](auto word) {
               return failure.message.find(word) != std::string::npos;
           });
}

class Layout {
public:
    explicit Layout(const Options& options) : options_(options), session_(options, Role::Setup) {}

    Outcome<std::uint16_t> attempt() {
        auto work = [&](Connection& connection) { return ensure(connection); };
        auto outcome = session_.attempt(work);
        if (!outcome && is_final(outcome.error())) {
            return std::unexpected(refused(Errc::InvalidInput, outcome.error().message));
        }
        return outcome;
    }

private:
    Outcome<Rows> ask(Connection& connection, const std::string& sql) const {
        return connection.script(sql, options_.timeout);
    }

    Outcome<std::uint16_t> ensure(Connection& connection) {
        auto found = TRY(ask(connection, "SELECT to_regclass('meta') IS NULL"));
        if (found.bytes(0, 0) == "t") {
            auto made = ask(connection, creation_of(options_));
            if (!made) {
                // Its transaction is still open; another connection begins afresh.
                session_.heed(lost({}));
                return std::unexpected(std::move(made).error());
            }
        }
        auto rows = TRY(ask(connection, "SELECT name, value FROM meta"));
        auto shards = TRY(check(rows));
        auto counted = TRY(ask(connection, "SELECT count(*), coalesce(max(shard), -1) FROM shards"));
        if (number_of(counted.bytes(0, 0)) != shards || number_of(counted.bytes(0, 1)) != shards - 1) {
            return std::unexpected(damaged(fmt::format("table shards has {} rows, meta says {}",
                                                       counted.bytes(0, 0), shards)));
        }
        return static_cast<std::uint16_t>(shards);
    }

    Outcome<int> check(const Rows& rows) const {
        auto meta = std::map<std::string, std::string, std::less<>>{};
        for (auto row = 0; row < rows.count(); ++row) {
            meta.emplace(rows.bytes(row, 0), rows.bytes(row, 1));
        }
        auto format = number_of(meta["format"]);
        if (!format || *format < 1) {
            return std::unexpected(damaged(fmt::format("table meta has the format '{}'", meta["format"])));
        }
        if (*format > layout_format) {
            return std::unexpected(refused(
                Errc::Unsupported,
                fmt::format("schema {} has format {}, this program knows up to {}: a newer release "
                            "wrote it, use that one",
                            options_.schema, *format, layout_format)));
        }
        auto shards = number_of(meta["shards"]);
        if (!shards || *shards < 1 || *shards >= 0xFFFF) {
            return std::unexpected(damaged(fmt::format("table meta has '{}' shards", meta["shards"])));
        }
        return *shards;
    }

    Failure damaged(std::string_view what) const {
        return refused(Errc::Corrupt, fmt::format("schema {} is no store of ours, or damaged: {}",
                                                  options_.schema, what));
    }

    const Options& options_;
    Session session_;
};

} // namespace

Result<std::uint16_t> lay_out(const Options& options) {
    auto layout = Layout{options};
    return insist(options, "opening the store", [&] { return layout.attempt(); });
}

} // namespace sluice::store::postgres
