#include "store/postgres/internal/connection.h"

#include <array>
#include <cerrno>
#include <optional>

#include <fmt/format.h>
#include <libpq-fe.h>
#include <poll.h>

#include "store/postgres/internal/parameters.h"

namespace sluice::store::postgres {
namespace {

/// The server's own limit comes first where the network is well.
constexpr auto grace = std::chrono::seconds{2};

std::string first_line(const char* text) {
    auto line = std::string_view{text == nullptr ? "" : text};
    while (line.starts_with('\n')) {
        line.remove_prefix(1);
    }
    return std::string{line.substr(0, line.find('\n'))};
}

Failure failure_of_result(const PGresult* result) {
    const auto* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const auto* primary = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    if (state == nullptr) {
        return lost(first_line(PQresultErrorMessage(result)));
    }
    // Without its detail, which repeats keys and values.
    return failure_of(state, first_line(primary));
}

} // namespace

Connection::Connection(const Options& options, Role role)
    : options_(options), role_(role), limit_(options.timeout + grace) {}

Connection::~Connection() {
    PQfinish(connection_);
}

Outcome<std::unique_ptr<Connection>> Connection::open(const Options& options, Role role) {
    auto connection = std::unique_ptr<Connection>{new Connection{options, role}};
    TRY(connection->connect());
    TRY(connection->configure());
    if (role != Role::Setup) {
        TRY(connection->prepare_all());
    }
    return connection;
}

Outcome<std::vector<Rows>> Connection::run(std::span<const Call> calls) {
    has_warned_ = false;
    for (const auto& call : calls) {
        if (!send(call)) {
            return std::unexpected(broken("sending"));
        }
    }
    if (PQpipelineSync(connection_) != 1) {
        return std::unexpected(broken("sending"));
    }
    TRY(flush());
    auto rows = std::vector<Rows>{};
    rows.reserve(calls.size());
    auto done = collect(calls.size(), rows);
    if (!done) {
        if (done.error().trouble != Trouble::Lost) {
            TRY(roll_back());
        }
        return std::unexpected(std::move(done).error());
    }
    return rows;
}

Outcome<Rows> Connection::run_one(const Call& call) {
    auto rows = TRY(run({&call, 1}));
    return std::move(rows.front());
}

Outcome<std::vector<Rows>> Connection::run_past_stuck(std::span<const Call> calls) {
    auto rows = run(calls);
    if (!rows && rows.error().trouble == Trouble::Busy) {
        auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(options_.timeout);
        auto age = int8(limit.count());
        TRY(run_one({statements::end_stuck, {age}}));
    }
    return rows;
}

Outcome<Rows> Connection::script(const std::string& sql, Nanos limit) {
    has_warned_ = false;
    limit_ = limit;
    if (PQsendQuery(connection_, sql.c_str()) != 1) {
        return std::unexpected(broken("sending"));
    }
    TRY(flush());
    auto failure = std::optional<Failure>{};
    auto first = std::optional<Rows>{};
    for (;;) {
        auto result = TRY(next_result());
        if (result == nullptr) {
            break;
        }
        auto status = PQresultStatus(result.get());
        if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
            failure = failure_of_result(result.get());
        } else if (!first) {
            first.emplace(std::move(result));
        }
    }
    limit_ = options_.timeout + grace;
    if (failure) {
        return std::unexpected(*std::move(failure));
    }
    return first ? *std::move(first) : Rows{};
}

bool Connection::send(const Call& call) {
    constexpr auto parameters_max = std::size_t{4};
    auto values = std::array<const char*, parameters_max>{};
    auto lengths = std::array<int, parameters_max>{};
    auto formats = std::array<int, parameters_max>{};
    auto types = std::array<Oid, parameters_max>{};
    for (auto at = std::size_t{0}; at < call.parameters.size(); ++at) {
        // A null pointer would be an SQL null.
        values[at] = call.parameters[at].data() == nullptr ? "" : call.parameters[at].data();
        lengths[at] = static_cast<int>(call.parameters[at].size());
        formats[at] = 1;
        types[at] = static_cast<Oid>(Type::Bytea);
    }
    auto count = static_cast<int>(call.parameters.size());
    auto sent = call.prepared != nullptr
                    ? PQsendQueryPrepared(connection_, call.prepared, count, values.data(),
                                          lengths.data(), formats.data(), 1)
                    : PQsendQueryParams(connection_, call.text.c_str(), count, types.data(),
                                        values.data(), lengths.data(), formats.data(), 1);
    return sent == 1;
}

Outcome<void> Connection::flush() {
    for (;;) {
        auto left = PQflush(connection_);
        if (left == 0) {
            return {};
        }
        if (left < 0) {
            return std::unexpected(broken("sending"));
        }
        TRY(wait(POLLIN | POLLOUT));
        // What the server answers meanwhile must be read, or both would wait for each other.
        if (PQconsumeInput(connection_) != 1) {
            return std::unexpected(broken("receiving"));
        }
    }
}

Outcome<void> Connection::wait(short events, Moment until) {
    for (;;) {
        auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Moment::clock::now());
        if (left.count() <= 0) {
            return std::unexpected(lost("no answer in time"));
        }
        auto socket = pollfd{.fd = PQsocket(connection_), .events = events, .revents = 0};
        auto ready =
            ::poll(&socket, 1, static_cast<int>(std::min<std::int64_t>(left.count(), 60'000)));
        if (ready > 0) {
            return {};
        }
        if (ready < 0 && errno != EINTR) {
            return std::unexpected(lost(fmt::format("poll failed with {}", errno)));
        }
    }
}

Outcome<OwnedResult> Connection::next_result() {
    while (PQisBusy(connection_) != 0) {
        TRY(wait(POLLIN));
        if (PQconsumeInput(connection_) != 1) {
            return std::unexpected(broken("receiving"));
        }
    }
    return OwnedResult{PQgetResult(connection_)};
}

Outcome<void> Connection::collect(std::size_t count, std::vector<Rows>& into) {
    auto failure = std::optional<Failure>{};
    for (auto left = count; left > 0; --left) {
        for (auto result = TRY(next_result()); result != nullptr; result = TRY(next_result())) {
            auto status = PQresultStatus(result.get());
            if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) {
                into.emplace_back(std::move(result));
            } else if (status == PGRES_PIPELINE_SYNC) {
                return std::unexpected(lost("the server's answers are out of step"));
            } else if (!failure && status != PGRES_PIPELINE_ABORTED) {
                failure = failure_of_result(result.get());
            }
            if (PQstatus(connection_) == CONNECTION_BAD) {
                return std::unexpected(failure && failure->trouble == Trouble::Lost
                                           ? *std::move(failure)
                                           : broken("receiving"));
            }
        }
    }
    auto sync = TRY(next_result());
    if (sync == nullptr || PQresultStatus(sync.get()) != PGRES_PIPELINE_SYNC) {
        return std::unexpected(broken("receiving"));
    }
    if (failure) {
        return std::unexpected(*std::move(failure));
    }
    return {};
}

Outcome<void> Connection::roll_back() {
    if (PQtransactionStatus(connection_) == PQTRANS_IDLE) {
        return {};
    }
    auto call = Call{"ROLLBACK", {}};
    if (!send(call) || PQpipelineSync(connection_) != 1) {
        return std::unexpected(broken("sending"));
    }
    TRY(flush());
    auto rows = std::vector<Rows>{};
    return collect(1, rows);
}

Failure Connection::broken(std::string_view what) {
    auto why = first_line(PQerrorMessage(connection_));
    return lost(why.empty() ? fmt::format("the connection broke while {}", what) : why);
}

} // namespace sluice::store::postgres
