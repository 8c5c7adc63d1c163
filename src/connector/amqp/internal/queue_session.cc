#include "connector/amqp/internal/queue_session.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "connector/amqp/internal/failure.h"

namespace sluice::connector::amqp::internal {

namespace {

// A quorum queue hands out as many as an acknowledgement freed, and is slower at many at a time:
// 125,000 a second by 500, 95,000 by 2,000.
constexpr auto acknowledged_max = std::uint64_t{250};

} // namespace

QueueSession::QueueSession(const Options& options, Connection connection)
    : Session(options), connection_(std::move(connection)) {
    lanes_.resize(1); // Channel 0 is the connection's own.
}

Result<std::unique_ptr<Session>> QueueSession::open(const Options& options) {
    auto connection = TRY(Connection::open(options, "sluice source"));
    return std::unique_ptr<Session>{new QueueSession{options, std::move(connection)}};
}

Result<void> QueueSession::attach(const std::string& queue, std::uint64_t position) {
    return options().type == QueueType::Stream ? Session::attach(queue, position)
                                               : attach_queue(queue, position);
}

QueueLane* QueueSession::find_lane(std::string_view queue) {
    auto found = std::ranges::find_if(
        lanes_, [&](const auto& lane) { return lane && lane->name() == queue; });
    return found == lanes_.end() ? nullptr : found->get();
}

Result<Lane*> QueueSession::open_lane(Lane::Settings settings, const StreamStart* start,
                                      std::uint16_t prefetch) {
    auto free = std::find(lanes_.begin() + 1, lanes_.end(), nullptr);
    auto channel = static_cast<amqp_channel_t>(free - lanes_.begin());
    if (channel > connection_.channels_max()) {
        return fail(Errc::LimitExceeded, "the broker allows {} channels for a connection",
                    connection_.channels_max());
    }
    TRY(connection_.open_channel(channel));
    if (free == lanes_.end()) {
        lanes_.emplace_back();
    }
    auto tag = fmt::format("sluice-{}", ++tags_given_);
    settings.numbering = start != nullptr ? Numbering::ByOffset : Numbering::ByDelivery;
    settings.limits = options().limits;
    lanes_[channel] = std::make_unique<QueueLane>(settings, tag, channel);
    auto consumed = prepare_queue(channel);
    if (consumed) {
        consumed = connection_.consume(channel, settings.name, tag, prefetch, start);
    }
    if (!consumed) {
        lanes_[channel].reset();
        return std::unexpected(std::move(consumed).error());
    }
    return lanes_[channel].get();
}

/// A user's own queue may be ours to make.
Result<void> QueueSession::prepare_queue(amqp_channel_t channel) {
    if (!options().is_declared) {
        return {};
    }
    TRY(connection_.declare_queue(channel, options().queue, options()));
    return options().exchange.empty() ? Result<void>{} : connection_.bind_queue(channel, options());
}

void QueueSession::end_lane(Lane& lane) {
    auto channel = static_cast<QueueLane&>(lane).channel();
    connection_.close_channel(channel);
    lanes_[channel].reset();
}

/// A stream would begin with what comes next, and leave out all it has. It alone takes an offset.
Result<void> QueueSession::attach_queue(const std::string& queue, std::uint64_t position) {
    auto next = StreamStart{.at = StreamStart::At::Next};
    auto stream = open_lane({.name = queue}, &next, 1);
    if (stream) {
        close_lane(**stream);
        return fail(Errc::Conflict, "queue {} is a stream: say stream", queue);
    }
    if (stream.error().code != Errc::Conflict) {
        return std::unexpected(std::move(stream).error());
    }
    std::ignore = TRY(
        open_lane({.name = queue, .position = position}, nullptr, options().effective_prefetch()));
    return {};
}

Result<bool> QueueSession::receive(std::size_t /*bytes_max*/, Nanos wait) {
    auto frame = amqp_frame_t{};
    if (!TRY(connection_.next(frame, wait))) {
        return false;
    }
    TRY(handle(frame));
    return true;
}

Result<void> QueueSession::handle(const amqp_frame_t& frame) {
    auto channel = frame.channel;
    if (frame.frame_type == AMQP_FRAME_METHOD) {
        auto method = frame.payload.method;
        if (method.id == AMQP_CONNECTION_CLOSE_METHOD || method.id == AMQP_CHANNEL_CLOSE_METHOD) {
            auto failure = failure_of(method);
            return fail(Errc::Unavailable, "{}", failure.message);
        }
        if (method.id == AMQP_BASIC_CANCEL_METHOD) {
            return fail(Errc::Unavailable, "the broker ended the reading of a queue");
        }
    }
    auto* lane = channel < lanes_.size() ? lanes_[channel].get() : nullptr;
    if (lane == nullptr) {
        connection_.release(channel);
        return {};
    }
    if (!TRY(lane->take(frame))) {
        return {};
    }
    connection_.release(channel);
    note(*lane);
    return lane->is_numbered() ? grant_credit(*lane) : Result<void>{};
}

Result<void> QueueSession::grant_credit(QueueLane& lane) {
    auto step = std::max<std::uint64_t>(options().effective_prefetch() / 4, 1);
    if (lane.last_tag() - lane.credited_tag >= step) {
        lane.credited_tag = lane.last_tag();
        return connection_.acknowledge(lane.channel(), lane.credited_tag);
    }
    return {};
}

void QueueSession::confirm(std::string_view queue, std::uint64_t number) {
    if (auto* lane = find_lane(queue); lane != nullptr && !lane->is_numbered()) {
        lane->confirmed_tag = std::max(lane->confirmed_tag, lane->tag_of(number));
    }
}

Result<void> QueueSession::flush() {
    for (auto& lane : lanes_) {
        if (!lane || lane->is_numbered()) {
            continue;
        }
        while (lane->credited_tag < lane->confirmed_tag) {
            lane->credited_tag =
                std::min(lane->credited_tag + acknowledged_max, lane->confirmed_tag);
            TRY(connection_.acknowledge(lane->channel(), lane->credited_tag));
        }
    }
    return {};
}

Result<void> QueueSession::keep_alive() {
    TRY(flush());
    return connection_.send_heartbeat();
}

} // namespace sluice::connector::amqp::internal
