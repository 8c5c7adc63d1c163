#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "connector/nats/internal/handles.h"

namespace sluice::connector::nats::internal {

/// Where answers come, each under a subject of its own, to be taken one after the other. What is
/// asked for bounds what lies in it. The library hides from us which request had nobody to answer
/// it.
class Inbox {
public:
    static Result<Inbox> open(natsConnection* connection);

    /// `_INBOX.….`
    const std::string& prefix() const { return prefix_; }
    /// Null: none came in time, or the connection is closed.
    MessageHandle next(Nanos wait);
    /// Whether nobody was there to answer something; asked once.
    bool take_unanswered() { return std::exchange(is_unanswered_, false); }

private:
    std::string prefix_;
    SubscriptionHandle subscription_;
    bool is_unanswered_ = false;
};

} // namespace sluice::connector::nats::internal
