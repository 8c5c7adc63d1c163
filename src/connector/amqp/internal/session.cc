#include "connector/amqp/internal/session.h"

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "connector/amqp/internal/failure.h"

namespace sluice::connector::amqp::internal {

namespace {

using Steady = std::chrono::steady_clock;

// A stream that has a message sends it at once, unless its broker has much to do.
constexpr auto last_read_wait = std::chrono::seconds{2};
constexpr auto first_wait = std::chrono::seconds{5};
constexpr auto grace = std::chrono::seconds{1};
// While much comes, reading waits for more of it: of many small batches each would cost a commit,
// and a broker on the same machine the time to make more.
constexpr auto gathering_wait = std::chrono::milliseconds{1};
constexpr auto gathering_waits_max = 4;
constexpr auto gathered_min = std::size_t{500};

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
    auto found = std::ranges::find_if(
        lanes_, [&](const auto& lane) { return lane && lane->name() == queue; });
    return found == lanes_.end() ? nullptr : found->get();
}

Result<Lane*> Session::open_lane(Lane::Settings settings, const StreamStart* start,
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
    settings.tag = tag;
    settings.channel = channel;
    settings.numbering = start != nullptr ? Numbering::ByOffset : Numbering::ByDelivery;
    settings.limits = options_.limits;
    lanes_[channel] = std::make_unique<Lane>(settings);
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
    waiting_count_ -= lane.count();
    auto channel = lane.channel();
    connection_.close_channel(channel);
    lanes_[channel].reset();
}

Result<void> Session::attach(const std::string& queue, std::uint64_t position) {
    if (options_.type != QueueType::Stream) {
        return attach_queue(queue, position);
    }
    if (position > 0) {
        return attach_stream(queue, position);
    }
    auto start = StreamStart{};
    std::ignore = TRY(open_lane({.name = queue}, &start, options_.effective_prefetch()));
    return {};
}

/// A stream would begin with what comes next, and leave out all it has. It alone takes an offset.
Result<void> Session::attach_queue(const std::string& queue, std::uint64_t position) {
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
        open_lane({.name = queue, .position = position}, nullptr, options_.effective_prefetch()));
    return {};
}

/// The last that was read comes once more, and shows that the stream is still the same.
Result<void> Session::attach_stream(const std::string& stream, std::uint64_t position) {
    auto start = StreamStart{.at = StreamStart::At::Offset, .offset = position - 1};
    auto* lane = TRY(
        open_lane({.name = stream, .position = position}, &start, options_.effective_prefetch()));
    TRY(wait_for_first({&lane, 1}, last_read_wait));
    if (lane->first_number() == 0) {
        return check_made_anew(*lane);
    }
    if (lane->first_number() <= position + 1) {
        return {};
    }
    std::ignore = lane->take_gap();
    auto checked = check_next_is_there(stream, position);
    if (!checked && checked.error().code != Errc::Unavailable) {
        close_lane(*lane);
    }
    return checked;
}

/// Neither the last that was read nor anything behind it is there.
Result<void> Session::check_made_anew(Lane& lane) {
    auto name = lane.name();
    auto position = lane.position();
    auto firsts = TRY(probe({&name, 1}, StreamStart::At::First, first_wait));
    auto* waiting = &lane;
    TRY(wait_for_first({&waiting, 1}, firsts.empty() ? Nanos{0} : Nanos{grace}));
    if (lane.first_number() != 0) {
        return {};
    }
    // Retention may have emptied it. What it has next must come behind the position.
    close_lane(lane);
    if (!firsts.empty()) {
        return fail(Errc::NotFound,
                    "stream {} has messages, but {}, the last that was read, is not among them: it "
                    "was made anew; begin from 0 to read it",
                    name, position);
    }
    auto start = StreamStart{};
    std::ignore = TRY(open_lane({.name = name, .position = position, .is_beyond = true}, &start,
                                options_.effective_prefetch()));
    return {};
}

Result<void> Session::wait_for_first(std::span<Lane* const> lanes, Nanos wait) {
    auto deadline = Steady::now() + wait;
    auto frame = amqp_frame_t{};
    auto is_waiting = [](const Lane* lane) { return lane->first_number() == 0; };
    while (std::ranges::any_of(lanes, is_waiting) && Steady::now() < deadline) {
        if (TRY(connection_.next(frame, deadline - Steady::now()))) {
            TRY(handle(frame));
        }
    }
    return {};
}

Result<std::map<std::string, std::uint64_t>> Session::probe(std::span<const std::string> streams,
                                                            StreamStart::At end, Nanos wait) {
    auto start = StreamStart{.at = end};
    auto lanes = std::vector<Lane*>{};
    auto done = Result<void>{};
    for (auto next = streams.begin(); done && next != streams.end(); ++next) {
        if (auto lane = open_lane({.name = *next}, &start, 1); lane) {
            lanes.push_back(*lane);
        } else {
            done = std::unexpected(lane.error());
        }
    }
    if (done) {
        done = wait_for_first(lanes, wait);
    }
    auto numbers = std::map<std::string, std::uint64_t>{};
    for (auto* lane : lanes) {
        if (lane->first_number() != 0) {
            numbers.emplace(lane->name(), lane->first_number());
        }
        close_lane(*lane);
    }
    TRY(std::move(done));
    return numbers;
}

Result<void> Session::check_next_is_there(const std::string& stream, std::uint64_t position) {
    auto firsts = TRY(probe({&stream, 1}, StreamStart::At::First, first_wait));
    if (firsts.empty() || firsts[stream] > position + 1) {
        return fail(Errc::NotFound,
                    "stream {} begins with message {}, and all up to {} were read: what lies "
                    "between is gone; let the stream keep more, or begin from 0 without it",
                    stream, firsts.empty() ? 0 : firsts[stream], position);
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
    waiting_count_ += lane->count() - before_count;
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
    TRY(drain(bytes_max, deadline));
    auto is_gathering = is_busy_;
    for (auto waits = 0;
         is_gathering && waits < gathering_waits_max && waiting_count_ < gathered_min; ++waits) {
        std::this_thread::sleep_for(gathering_wait);
        TRY(drain(bytes_max, deadline));
    }
    is_busy_ = waiting_count_ >= gathered_min / 8;
    return gaps_.empty() ? Result<void>{} : check_gaps();
}

Result<void> Session::drain(std::size_t bytes_max, Deadline deadline) {
    auto frame = amqp_frame_t{};
    while (waiting_bytes_ < bytes_max) {
        auto wait =
            waiting_.empty() ? std::max(Nanos{deadline - Steady::now()}, Nanos{0}) : Nanos{0};
        if (!TRY(connection_.next(frame, wait))) {
            break;
        }
        TRY(handle(frame));
    }
    return {};
}

std::optional<event::Chunk> Session::take() {
    if (waiting_.empty()) {
        return std::nullopt;
    }
    auto* lane = waiting_.front();
    waiting_.pop_front();
    lane->is_waiting = false;
    waiting_bytes_ -= lane->bytes();
    waiting_count_ -= lane->count();
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
