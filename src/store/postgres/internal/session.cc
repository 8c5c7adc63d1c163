#include "store/postgres/internal/session.h"

#include <algorithm>

#include "store/postgres/internal/parameters.h"

namespace sluice::store::postgres {
namespace {

constexpr auto end_wait_max = std::chrono::milliseconds{5000};

} // namespace

Outcome<Connection*> Session::connection() {
    if (connection_ == nullptr) {
        connection_ = TRY(Connection::open(options_, role_));
    }
    // What makes tables may be repeated at any time.
    if (lost_ && role_ != Role::Setup) {
        auto ended = end_lost();
        if (!ended) {
            if (ended.error().trouble == Trouble::Lost) {
                connection_.reset();
            }
            return std::unexpected(std::move(ended).error());
        }
    }
    lost_.reset();
    return connection_.get();
}

void Session::heed(const Failure& failure) {
    if (connection_ == nullptr) {
        return;
    }
    if (failure.trouble == Trouble::Lost) {
        lost_ = connection_->backend();
    }
    // A server that takes no writes any more is not the one to talk to after a failover.
    if (failure.trouble == Trouble::Lost || failure.trouble == Trouble::ReadOnly) {
        connection_.reset();
    }
}

Outcome<void> Session::end_lost() {
    auto process = int4(lost_->process);
    auto started = int8(lost_->started);
    auto wait = std::min<Nanos>(end_wait_max, options_.timeout / 2);
    auto limit = int8(std::chrono::ceil<std::chrono::milliseconds>(wait).count());
    auto rows = TRY(connection_->run_one({statements::end_backend, {process, started, limit}}));
    if (rows.count() > 0 && rows.number(0, 0) == 0) {
        return std::unexpected(Failure{.trouble = Trouble::Busy,
                                       .code = Errc::Unavailable,
                                       .message = "the server still works on an earlier attempt"});
    }
    return {};
}

} // namespace sluice::store::postgres
