#include "connector/nats/internal/subject_source.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "connector/nats/internal/steady.h"

namespace sluice::connector::nats::internal {

namespace {

constexpr auto listen_time = Nanos{std::chrono::milliseconds{100}};

} // namespace

Result<std::unique_ptr<event::Source>> SubjectSource::open(const SourceOptions& options,
                                                           observe::Diagnostics& diagnostics) {
    auto session = TRY(Session::open(options.server, "sluice source", Session::Reconnect::Always));
    return std::unique_ptr<event::Source>{
        new SubjectSource{options, std::move(session), diagnostics}};
}

SubjectSource::SubjectSource(SourceOptions options, std::unique_ptr<Session> session,
                             observe::Diagnostics& diagnostics)
    : options_(std::move(options)), diagnostics_(diagnostics), session_(std::move(session)) {}

Result<void> SubjectSource::resume(std::string_view partition, std::uint64_t /*position*/) {
    if (partition != options_.subject) {
        return fail(Errc::NotFound, "there is no partition {}: this source reads {}", partition,
                    options_.subject);
    }
    is_resumed_ = true;
    return keep_subscribed();
}

void SubjectSource::leave(std::string_view partition) {
    if (partition == options_.subject) {
        is_resumed_ = false;
        subscription_.reset();
    }
}

Result<void> SubjectSource::keep_subscribed() {
    session_->mend(steady_now());
    if (!is_resumed_ || (subscription_ && seen_generation_ == session_->generation()) ||
        session_->is_closed()) {
        return {};
    }
    return subscribe();
}

Result<void> SubjectSource::subscribe() {
    subscription_.reset();
    auto* connection = session_->connection();
    const auto& subject = options_.subject;
    auto status =
        options_.queue.empty()
            ? natsConnection_SubscribeSync(Out{subscription_}, connection, subject.c_str())
            : natsConnection_QueueSubscribeSync(Out{subscription_}, connection, subject.c_str(),
                                                options_.queue.c_str());
    if (status == NATS_OK) {
        auto bytes =
            std::min<std::size_t>(options_.server.prefetch_bytes, std::numeric_limits<int>::max());
        status =
            natsSubscription_SetPendingLimits(subscription_.get(), -1, static_cast<int>(bytes));
    }
    if (status != NATS_OK) {
        return std::unexpected(error_of(status, fmt::format("subscribing to {}", subject)));
    }
    seen_generation_ = session_->generation();
    dropped_ = 0;
    return {};
}

Result<event::Chunk> SubjectSource::read(std::size_t bytes_max, Nanos wait) {
    auto now = steady_now();
    auto until = now + wait;
    while (builder_.bytes() < bytes_max) {
        TRY(keep_subscribed());
        // Once something is here, only what is there already is added.
        auto pause =
            builder_.count() > 0 ? Nanos{0} : std::clamp(until - now, Nanos{0}, listen_time);
        auto rounded = std::chrono::ceil<std::chrono::milliseconds>(pause);
        auto message = MessageHandle{};
        if (subscription_ && !session_->is_closed()) {
            natsSubscription_NextMsg(Out{message}, subscription_.get(), rounded.count());
        } else {
            nats_Sleep(rounded.count());
        }
        now = steady_now();
        if (message) {
            reader_.add(builder_, ++read_, message.get());
        } else if (builder_.count() > 0 || now >= until) {
            break;
        }
    }
    tell_dropped();
    return builder_.count() == 0 ? event::Chunk{} : builder_.take(options_.subject, false);
}

void SubjectSource::tell_dropped() {
    auto dropped = std::int64_t{0};
    if (subscription_ && natsSubscription_GetDropped(subscription_.get(), &dropped) == NATS_OK &&
        dropped > dropped_) {
        diagnostics_.warn("messages came faster than they were read, and are lost",
                          {{"subject", options_.subject}, {"messages", dropped - dropped_}});
        dropped_ = dropped;
    }
}

std::optional<std::uint64_t> SubjectSource::lag() {
    auto messages = 0;
    auto bytes = 0;
    if (!subscription_ ||
        natsSubscription_GetPending(subscription_.get(), &messages, &bytes) != NATS_OK) {
        return std::nullopt;
    }
    return static_cast<std::uint64_t>(messages);
}

} // namespace sluice::connector::nats::internal
