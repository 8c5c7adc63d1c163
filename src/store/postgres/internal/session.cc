#include "store/postgres/internal/session.h"

namespace sluice::store::postgres {

Outcome<Connection*> Session::connection() {
    if (connection_ == nullptr) {
        connection_ = TRY(Connection::open(options_, role_));
    }
    return connection_.get();
}

void Session::heed(const Failure& failure) {
    // A server that takes no writes any more is not the one to talk to after a failover.
    if (failure.trouble == Trouble::Lost || failure.trouble == Trouble::ReadOnly) {
        connection_.reset();
    }
}

} // namespace sluice::store::postgres
