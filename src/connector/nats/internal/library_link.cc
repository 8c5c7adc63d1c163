#include "connector/nats/internal/library_link.h"

#include <algorithm>

#include "connector/nats/internal/message_reader.h"

namespace sluice::connector::nats::internal {

Result<bool> LibraryLink::keep(Nanos /*now*/) {
    if (!session_.is_connected()) {
        return false;
    }
    auto connection = session_.incarnation();
    if (inbox_ && connection == seen_connection_) {
        return true;
    }
    if (!inbox_ || session_.generation() != seen_generation_) {
        close_inbox();
        auto opened = Inbox::open(session_.connection());
        if (!opened && opened.error().code == Errc::Unavailable) {
            return false;
        }
        inbox_ = TRY(std::move(opened));
        seen_generation_ = session_.generation();
    }
    seen_connection_ = connection;
    ++incarnation_;
    return true;
}

const Answer* LibraryLink::next() {
    if (!inbox_) {
        return nullptr;
    }
    if (!std::exchange(is_waiting_, false)) {
        message_ = inbox_->next(Nanos{0});
    }
    if (!message_) {
        return nullptr;
    }
    auto* message = message_.get();
    answer_.subject = text_of(natsMsg_GetSubject(message));
    answer_.reply = text_of(natsMsg_GetReply(message));
    answer_.body = body_of(message);
    answer_.status = field_of(message, "Status");
    answer_.description = field_of(message, "Description");
    gather_fields(message, answer_.fields);
    return &answer_;
}

void LibraryLink::wait(Nanos limit) {
    if (inbox_ && !session_.is_closed()) {
        message_ = inbox_->next(limit);
        is_waiting_ = message_ != nullptr;
    } else {
        nats_Sleep(std::max<std::int64_t>(1, limit / std::chrono::milliseconds{1}));
    }
}

void LibraryLink::publish(const std::string& subject, const std::string& reply,
                          std::string_view body) {
    // What is lost with the connection is asked for anew.
    auto size = static_cast<int>(body.size());
    if (reply.empty()) {
        natsConnection_Publish(session_.connection(), subject.c_str(), body.data(), size);
    } else {
        natsConnection_PublishRequest(session_.connection(), subject.c_str(), reply.c_str(),
                                      body.data(), size);
    }
}

void LibraryLink::close_inbox() {
    inbox_.reset();
    message_.reset();
    is_waiting_ = false;
}

void LibraryLink::finish(Nanos limit) {
    if (session_.is_connected()) {
        natsConnection_FlushTimeout(session_.connection(), limit / std::chrono::milliseconds{1});
    }
}

} // namespace sluice::connector::nats::internal
