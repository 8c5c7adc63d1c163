#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "connector/nats/internal/handles.h"

namespace sluice::connector::nats::internal {

/// Where answers come, each under a subject of its own, to be taken many at a time. Unlike an Inbox
/// it also tells for which of them nobody was there to answer.
class Answers {
public:
    static Result<Answers> open(natsConnection* connection);

    /// `_INBOX.….`
    const std::string& prefix() const { return prefix_; }
    /// What is there, or comes within this time.
    std::vector<MessageHandle> take(Nanos wait);

private:
    struct Box;

    static void receive(natsConnection* connection, natsSubscription* subscription,
                        natsMsg* message, void* closure);
    static void complete(void* closure);

    std::string prefix_;
    std::shared_ptr<Box> box_; ///< Shared with the library until it calls no more.
    SubscriptionHandle subscription_;
};

} // namespace sluice::connector::nats::internal
