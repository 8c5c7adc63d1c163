#include "connector/nats/internal/answers.h"

#include <condition_variable>
#include <mutex>
#include <utility>

#include "connector/nats/session.h"

namespace sluice::connector::nats::internal {

struct Answers::Box {
    std::mutex mutex;
    std::condition_variable wake;
    std::vector<MessageHandle> messages;
};

Result<Answers> Answers::open(natsConnection* connection) {
    auto answers = Answers{};
    answers.box_ = std::make_shared<Box>();
    auto* name = static_cast<char*>(nullptr);
    auto status = natsInbox_Create(&name);
    if (status != NATS_OK) {
        return std::unexpected(error_of(status, "naming an inbox"));
    }
    answers.prefix_ = std::string{name} + ".";
    natsInbox_Destroy(name);
    auto all = answers.prefix_ + "*";
    // Deleted by `complete`, which the library calls when it has called `receive` for the last
    // time.
    auto shared = std::make_unique<std::shared_ptr<Box>>(answers.box_);
    status = natsConnection_Subscribe(Out{answers.subscription_}, connection, all.c_str(), receive,
                                      shared.get());
    if (status == NATS_OK) {
        status =
            natsSubscription_SetOnCompleteCB(answers.subscription_.get(), complete, shared.get());
    }
    if (status != NATS_OK) {
        return std::unexpected(error_of(status, "subscribing to answers"));
    }
    std::ignore = shared.release();
    natsSubscription_SetPendingLimits(answers.subscription_.get(), -1, -1);
    return answers;
}

void Answers::receive(natsConnection* /*connection*/, natsSubscription* /*subscription*/,
                      natsMsg* message, void* closure) {
    auto& box = **static_cast<std::shared_ptr<Box>*>(closure);
    auto lock = std::lock_guard{box.mutex};
    box.messages.emplace_back(message);
    if (box.messages.size() == 1) {
        box.wake.notify_one();
    }
}

void Answers::complete(void* closure) {
    std::unique_ptr<std::shared_ptr<Box>>{static_cast<std::shared_ptr<Box>*>(closure)}.reset();
}

std::vector<MessageHandle> Answers::take(Nanos wait) {
    auto lock = std::unique_lock{box_->mutex};
    box_->wake.wait_for(lock, wait, [&] { return !box_->messages.empty(); });
    return std::exchange(box_->messages, {});
}

} // namespace sluice::connector::nats::internal
