#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "store/postgres/internal/failure.h"
#include "store/postgres/internal/rows.h"
#include "store/postgres/internal/statements.h"
#include "store/postgres/options.h"

// libpq's PGconn.
struct pg_conn;

namespace sluice::store::postgres {

/// What a connection is for: its settings follow from it.
enum class Role : std::uint8_t {
    Setup,   ///< Makes the tables; has nothing prepared.
    Commits, ///< As durable as the options say.
    Control, ///< Owners and leases: always durable.
    Reads,
    Scans, ///< Keeps a transaction open between calls.
};

/// One statement with its parameters, in binary form, which must outlive the call.
struct Call {
    Call(const Statement& statement, std::vector<std::string_view> values = {})
        : prepared(statement.name), parameters(std::move(values)) {}
    /// Not prepared; its parameters are bytea.
    Call(std::string sql, std::vector<std::string_view> values)
        : text(std::move(sql)), parameters(std::move(values)) {}

    const char* prepared = nullptr;
    std::string text;
    std::vector<std::string_view> parameters;
};

/// Which process of the server works for a connection. A number alone is given again to others.
struct Backend {
    std::int32_t process = 0;
    std::int64_t started = 0; ///< Microseconds.
};

/// A connection to the server on which no wait is without end. For one thread at a time.
class Connection {
public:
    static Outcome<std::unique_ptr<Connection>> open(const Options& options, Role role);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    /// Sends them together and waits once. After the first that fails, none is done; a transaction
    /// that they had begun is rolled back. After Lost, the connection is of no more use.
    Outcome<std::vector<Rows>> run(std::span<const Call> calls);
    Outcome<Rows> run_one(const Call& call);
    /// The same for what waits for the rows of shards: who holds them for too long without a word
    /// to its server is thrown out, so that the next attempt gets them.
    Outcome<std::vector<Rows>> run_past_stuck(std::span<const Call> calls);
    /// Statements without parameters, separated by semicolons; gives the first one's rows, as text.
    /// Only where nothing is prepared.
    Outcome<Rows> script(const std::string& sql, Nanos limit);

    const Backend& backend() const { return backend_; }
    /// The server warned during the last run: of a commit that it could not wait for, perhaps.
    bool has_warned() const { return has_warned_; }

private:
    using Moment = std::chrono::steady_clock::time_point;

    Connection(const Options& options, Role role);

    /// To the first host that takes us.
    Outcome<void> connect();
    Outcome<void> connect_to(std::size_t host);
    Outcome<void> configure();
    Outcome<void> learn(const Rows& facts);
    Outcome<void> prepare_all();
    bool send(const Call& call);
    Outcome<void> flush();
    /// Until the socket is ready, or nothing came for too long.
    Outcome<void> wait(short events, Moment until);
    Outcome<void> wait(short events) { return wait(events, Moment::clock::now() + limit_); }
    /// The next result of the statement that answers now; nothing at its end.
    Outcome<OwnedResult> next_result();
    Outcome<void> collect(std::size_t count, std::vector<Rows>& into);
    Outcome<void> roll_back();
    Failure broken(std::string_view what);

    const Options& options_;
    Role role_;
    Nanos limit_;
    pg_conn* connection_ = nullptr;
    Backend backend_;
    bool has_warned_ = false;
};

} // namespace sluice::store::postgres
