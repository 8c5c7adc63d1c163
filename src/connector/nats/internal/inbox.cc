#include "connector/nats/internal/inbox.h"

#include <algorithm>

#include "connector/nats/session.h"

namespace sluice::connector::nats::internal {

Result<Inbox> Inbox::open(natsConnection* connection) {
    auto inbox = Inbox{};
    auto* name = static_cast<char*>(nullptr);
    auto status = natsInbox_Create(&name);
    if (status == NATS_OK) {
        inbox.prefix_ = std::string{name} + ".";
        natsInbox_Destroy(name);
        auto all = inbox.prefix_ + ">";
        status = natsConnection_SubscribeSync(Out{inbox.subscription_}, connection, all.c_str());
    }
    if (status == NATS_OK) {
        status = natsSubscription_SetPendingLimits(inbox.subscription_.get(), -1, -1);
    }
    if (status != NATS_OK) {
        return std::unexpected(error_of(status, "subscribing to answers"));
    }
    return inbox;
}

MessageHandle Inbox::next(Nanos wait) {
    auto message = MessageHandle{};
    auto rounded = std::chrono::ceil<std::chrono::milliseconds>(std::max(wait, Nanos{0}));
    auto status = natsSubscription_NextMsg(Out{message}, subscription_.get(), rounded.count());
    is_unanswered_ = is_unanswered_ || status == NATS_NO_RESPONDERS;
    return message;
}

} // namespace sluice::connector::nats::internal
