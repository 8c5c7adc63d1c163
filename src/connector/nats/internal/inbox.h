#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "connector/nats/internal/handles.h"

namespace sluice::connector::nats::internal {

/// Where answers come, each under a subject of its own, to be taken one after the other. What is
/// asked for bounds what lies in it.
class Inbox {
public:
    static Result<Inbox> open(natsConnection* connection);

    /// `_INBOX.….`
    const std::string& prefix() const { return prefix_; }
    /// Null: none came in time, or the connection is closed.
    MessageHandle next(Nanos wait);

private:
    std::string prefix_;
    SubscriptionHandle subscription_;
};

} // namespace sluice::connector::nats::internal
