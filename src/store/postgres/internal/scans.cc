#include "store/postgres/internal/scans.h"

#include <fmt/format.h>

namespace sluice::store::postgres {

Outcome<Scans::Opened> Scans::open(std::string_view from, std::string_view to, int count) {
    auto lock = std::lock_guard{mutex_};
    if (connection_ == nullptr) {
        connection_ = TRY(Connection::open(options_, Role::Scans));
    }
    auto portal = Portal{.generation = generation_, .number = ++declared_};
    auto calls = std::vector<Call>{};
    if (open_ == 0) {
        calls.emplace_back(statements::begin);
    }
    auto parameters = std::vector<std::string_view>{from};
    if (!to.empty()) {
        parameters.push_back(to);
    }
    calls.emplace_back(fmt::format("DECLARE c{} NO SCROLL CURSOR FOR SELECT key, value FROM entries"
                                   " WHERE key >= $1{} ORDER BY key",
                                   portal.number, to.empty() ? "" : " AND key < $2"),
                       std::move(parameters));
    calls.emplace_back(fmt::format("FETCH {} FROM c{}", count, portal.number),
                       std::vector<std::string_view>{});
    auto rows = TRY(run(calls));
    ++open_;
    return Opened{.portal = portal, .rows = std::move(rows.back())};
}

Outcome<Rows> Scans::fetch(const Portal& portal, int count) {
    auto lock = std::lock_guard{mutex_};
    if (portal.generation != generation_) {
        return std::unexpected(lost("the connection of this scan was lost in its middle"));
    }
    auto calls = std::vector<Call>{};
    calls.emplace_back(fmt::format("FETCH {} FROM c{}", count, portal.number),
                       std::vector<std::string_view>{});
    auto rows = TRY(run(calls));
    return std::move(rows.front());
}

void Scans::close(const Portal& portal) {
    auto lock = std::lock_guard{mutex_};
    if (portal.generation != generation_) {
        return;
    }
    --open_;
    auto calls = std::vector<Call>{};
    if (open_ == 0) {
        calls.emplace_back(statements::commit);
    } else {
        calls.emplace_back(fmt::format("CLOSE c{}", portal.number),
                           std::vector<std::string_view>{});
    }
    std::ignore = run(calls);
}

Outcome<std::vector<Rows>> Scans::run(std::span<const Call> calls) {
    auto outcome = connection_->run(calls);
    if (!outcome) {
        // Whatever the reason, the transaction is over, and with it all that was declared.
        drop();
    }
    return outcome;
}

void Scans::drop() {
    connection_.reset();
    ++generation_;
    open_ = 0;
}

} // namespace sluice::store::postgres
