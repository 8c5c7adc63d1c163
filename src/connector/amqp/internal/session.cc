#include "connector/amqp/internal/session.h"

#include <algorithm>

#include <fmt/format.h>

#include "connector/amqp/internal/failure.h"

namespace sluice::connector::amqp::internal {

namespace {

using Steady = std::chrono::steady_clock;

// A stream that has a message sends it at once.
constexpr auto first_wait = std::chrono::seconds{10};

} // namespace

Session::Session(const Options& options, Connection connection)
    : options_(options), connection_(std::move(connection)) {
    lanes_.resize(1); // Channel 0 is the connection's own.
}

Result<std::unique_ptr<Session>> Session::open(const Options& options) {
    auto connection = TRY(Connection::open(options, "sluice source"));
    return std::unique_ptr<Session>{new Session{options, std::move(connection)}};
}

Lane* Session::find(std::string_view queue) {
    auto found =
        std::ranges::find_if(lanes_, [&](const auto& lane) { return lane && lane->name() == queue; });
    return found == lanes_.end() ? nullptr : found->get();
}

Result<Lane*> Session::open_lane(const std::string& queue, std::uint64_t position,
                                 const StreamOffset* offset, std::uint16_t prefetch) {
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
    lanes_[channel] = std::make_unique<Lane>(
        Lane::Settings{.name = queue,
                       .tag = tag,
                       .channel = channel,
                       .numbering = offset != nullptr ? Numbering::ByOffset : Numbering::ByDelivery,
                       .position = position,
                       .limits = options_.limits});
    auto* lane = lanes_[channel].get();
    auto consumed = prepare_queue(channel);
    if (consumed) {
        consumed = connection_.consume(channel, queue, tag, prefetch, offset);
    }
    if (!consumed) {
        lanes_[channel].reset();
        return std::unexpected(std::move(consumed).error());
    }
    return lane;
}

/// A user's own queue may be ours to make.
Result<void> Session::prepare_queue(amqp_channel_t channel) {
    if (!options_.is_declared) {
        return {};
    }
    TRY(connection_.declare_queue(channel, options_.queue, options_));
    return options_.exchange.empty() ? Result<void>{} : connection_.bind_queue(channel, options_);
}

void Session::close_lane(Lane& lane) {
    std::erase(waiting_, &lane);
    std::erase(gaps_, lane.channel());
    waiting_bytes_ -= lane.bytes();
    auto channel = lane.channel();
    connection_.close_channel(channel);
    lanes_[channel].reset();
}

Result<void> Session::attach(const std::string& queue, std::uint64_t position) {
    if (options_.type != QueueType::Stream) {
        std::ignore = TRY(open_lane(queue, position, nullptr, options_.effective_prefetch()));
        return {};
    }
    auto offset = StreamOffset{};
    if (position > 0) {
        // The last that was read comes once more, and shows that the stream is still the same.
        offset.offset = position - 1;
    }
    auto* lane = TRY(open_lane(queue, position, &offset, options_.effective_prefetch()));
    if (position > 0) {
        if (auto checked = wait_for_first(*lane); !checked) {
            if (checked.error().code != Errc::Unavailable) {
                close_lane(*lane);
            }
            return checked;
        }
    }
    return {};
}

Result<void> Session::wait_for_first(Lane& lane) {
    auto position = lane.position();
    auto deadline = Steady::now() + first_wait;
    while (lane.first_number() == 0) {
        if (Steady::now() >= deadline) {
            return fail(Errc::NotFound,
                        "stream {} has no message {}: it was made anew, or lost what it had; remove "
                        "the position, or restore the stream",
                        lane.name(), position);
        }
        auto frame = amqp_frame_t{};
        if (TRY(connection_.next(frame, deadline - Steady::now()))) {
            TRY(handle(frame));
        }
    }
    if (lane.first_number() <= position + 1) {
        return {};
    }
    std::ignore = lane.take_gap();
    return check_next_is_there(std::string{lane.name()}, position);
}

Result<std::uint64_t> Session::first_number(const std::string& stream) {
    auto offset = StreamOffset{};
    auto* lane = TRY(open_lane(stream, 0, &offset, 1));
    auto deadline = Steady::now() + first_wait;
    while (lane->first_number() == 0 && Steady::now() < deadline) {
        auto frame = amqp_frame_t{};
        if (TRY(connection_.next(frame, deadline - Steady::now()))) {
            TRY(handle(frame));
        }
    }
    auto number = lane->first_number();
    close_lane(*lane);
    if (number == 0) {
        return fail(Errc::NotFound, "stream {} holds nothing", stream);
    }
    return number;
}

Result<void> Session::check_next_is_there(const std::string& stream, std::uint64_t position) {
    auto first = TRY(first_number(stream));
    if (first > position + 1) {
        return fail(Errc::NotFound,
                    "stream {} begins with message {}, and all up to {} were read: what lies "
                    "between is gone; let the stream keep more",
                    stream, first, position);
    }
    return {};
}

Result<void> Session::check_gaps() {
    while (!gaps_.empty()) {
        auto* lane = lanes_[gaps_.back()].get();
        gaps_.pop_back();
        if (auto behind = lane->take_gap(); behind != 0) {
            TRY(check_next_is_there(std::string{lane->name()}, behind));
        }
    }
    return {};
}

void Session::detach(const std::string& queue) {
    if (auto* lane = find(queue); lane != nullptr) {
        close_lane(*lane);
    }
}

Result<void> Session::handle(const amqp_frame_t& frame) {
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
    auto before = lane->bytes();
    auto before_count = lane->count();
    if (!TRY(lane->take(frame))) {
        return {};
    }
    connection_.release(channel);
    waiting_bytes_ += lane->bytes() - before;
    if (lane->count() != before_count && !lane->is_waiting) {
        lane->is_waiting = true;
        waiting_.push_back(lane);
    }
    return lane->is_numbered() ? grant_credit(*lane) : Result<void>{};
}

Result<void> Session::grant_credit(Lane& lane) {
    if (lane.has_gap()) [[unlikely]] {
        gaps_.push_back(lane.channel());
    }
    auto step = std::max<std::uint64_t>(options_.effective_prefetch() / 4, 1);
    if (lane.last_tag() - lane.credited_tag >= step) {
        lane.credited_tag = lane.last_tag();
        return connection_.acknowledge(lane.channel(), lane.credited_tag);
    }
    return {};
}

Result<void> Session::pump(std::size_t bytes_max, Deadline deadline) {
    auto frame = amqp_frame_t{};
    while (waiting_bytes_ < bytes_max) {
        auto wait = waiting_.empty() ? std::max(Nanos{deadline - Steady::now()}, Nanos{0}) : Nanos{0};
        if (!TRY(connection_.next(frame, wait))) {
            break;
        }
        TRY(handle(frame));
    }
    return gaps_.empty() ? Result<void>{} : check_gaps();
}

std::optional<event::Chunk> Session::take() {
    if (waiting_.empty()) {
        return std::nullopt;
    }
    auto* lane = waiting_.front();
    waiting_.pop_front();
    lane->is_waiting = false;
    waiting_bytes_ -= lane->bytes();
    return lane->take_chunk();
}

void Session::confirm(std::string_view queue, std::uint64_t number) {
    if (auto* lane = find(queue); lane != nullptr && !lane->is_numbered()) {
        lane->confirmed_tag = std::max(lane->confirmed_tag, lane->tag_of(number));
    }
}

Result<void> Session::flush() {
    for (auto& lane : lanes_) {
        if (lane && !lane->is_numbered() && lane->confirmed_tag > lane->credited_tag) {
            lane->credited_tag = lane->confirmed_tag;
            TRY(connection_.acknowledge(lane->channel(), lane->credited_tag));
        }
    }
    return {};
}

Result<void> Session::keep_alive() {
    TRY(flush());
    return connection_.send_heartbeat();
}

} // namespace sluice::connector::amqp::internal
