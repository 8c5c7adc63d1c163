#include "connector/nats/internal/stream_source.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "connector/nats/internal/direct_link.h"
#include "connector/nats/internal/library_link.h"
#include "connector/nats/internal/names.h"
#include "connector/nats/internal/steady.h"

namespace sluice::connector::nats::internal {

namespace {

constexpr auto window_bytes_min = std::size_t{64} << 10U;
constexpr auto close_time_max = std::chrono::milliseconds{500};
constexpr auto no_acknowledgement = std::string_view{"-NAK"};
constexpr auto acknowledgement = std::string_view{"+ACK"};

std::unique_ptr<PullLink> link_to(const Session& session, const Options& server) {
    if (DirectLink::is_possible(server)) {
        return std::make_unique<DirectLink>(session, server);
    }
    return std::make_unique<LibraryLink>(session);
}

} // namespace

Result<std::unique_ptr<event::Source>> StreamSource::open(const SourceOptions& options,
                                                          observe::Diagnostics& diagnostics) {
    auto session = TRY(Session::open(options.server, "sluice source", Session::Reconnect::Always));
    return std::unique_ptr<event::Source>{
        new StreamSource{options, std::move(session), diagnostics}};
}

StreamSource::StreamSource(SourceOptions options, std::unique_ptr<Session> session,
                           observe::Diagnostics& diagnostics)
    : options_(std::move(options)),
      diagnostics_(diagnostics),
      session_(std::move(session)),
      link_(link_to(*session_, options_.server)),
      random_(static_cast<std::uint64_t>(steady_now().count())) {
    const auto& server = options_.server;
    if (is_by_position() && (!server.group.empty() || server.is_purged)) {
        marker_ = std::make_unique<GroupMarker>(
            GroupMarker::Settings{
                .server = server, .filter = options_.filter, .is_purging = server.is_purged},
            diagnostics_);
    }
}

StreamSource::~StreamSource() {
    stop_asking();
    for (auto& lane : lanes_) {
        give_back(*lane);
    }
    link_->finish(close_time_max);
    if (session_->is_connected()) {
        natsConnection_FlushTimeout(session_->connection(), close_time_max.count());
    }
}

/// What is acknowledged must not come to requests of ours that nobody waits for any more.
void StreamSource::stop_asking() {
    if (!is_by_position() && link_->has_inbox()) {
        take_waiting(std::numeric_limits<std::size_t>::max());
        link_->close_inbox();
    }
}

Lane* StreamSource::find(std::string_view partition) {
    auto found = std::ranges::find(
        lanes_, partition, [](const auto& lane) -> std::string_view { return lane->partition; });
    return found == lanes_.end() ? nullptr : found->get();
}

void StreamSource::share_prefetch() {
    for (auto& lane : lanes_) {
        lane->window.set_bytes(
            std::max(window_bytes_min, options_.server.prefetch_bytes / lanes_.size()));
    }
}

Result<void> StreamSource::resume(std::string_view partition, std::uint64_t position) {
    leave(partition);
    auto lane = std::make_unique<Lane>();
    lane->partition = partition;
    lane->stream = stream_of(partition);
    lane->id = ++next_id_;
    lane->read = is_by_position() ? position : 0;
    lanes_.push_back(std::move(lane));
    share_prefetch();
    now_ = steady_now();
    auto is_connected = TRY(keep_connected());
    auto done = is_connected ? open_lane(*lanes_.back()) : Result<void>{};
    if (!done) {
        leave(partition);
        return done;
    }
    if (marker_ && position > 0) {
        marker_->move(stream_of(partition), position);
    }
    return {};
}

void StreamSource::leave(std::string_view partition) {
    auto* lane = find(partition);
    if (lane == nullptr) {
        return;
    }
    stop_asking();
    give_back(*lane);
    if (marker_) {
        marker_->forget(lane->stream);
    }
    std::erase_if(lanes_, [&](const auto& kept) { return kept.get() == lane; });
    share_prefetch();
}

/// What was taken and is not confirmed comes again, to us or to others.
void StreamSource::give_back(Lane& lane) {
    std::erase_if(by_consumer_, [&](const auto& entry) { return entry.second == &lane; });
    last_ = {};
    for (const auto& [number, reply] : lane.unconfirmed) {
        link_->publish(reply, {}, no_acknowledgement);
    }
    link_->send();
    lane.unconfirmed.clear();
    if (lane.is_open && is_by_position()) {
        drop_reader(*session_, lane.stream, lane.consumer.name);
    }
    lane.close();
}

Result<event::Chunk> StreamSource::read(std::size_t bytes_max, Nanos wait) {
    now_ = steady_now();
    auto until = now_ + wait;
    while (true) {
        TRY(keep_open());
        take_waiting(bytes_max);
        if (auto* lane = fullest(bytes_max); lane != nullptr) {
            auto chunk = TRY(give(*lane));
            if (chunk) {
                ask(*lane);
                return *std::move(chunk);
            }
        }
        now_ = steady_now();
        if (now_ >= until) {
            return event::Chunk{};
        }
        // Consumers that are silent or to be made anew are looked after in between.
        constexpr auto look_after = Nanos{std::chrono::milliseconds{50}};
        auto pause = std::min(until - now_, look_after);
        link_->wait(pause);
        now_ = steady_now();
    }
}

/// Everything that is here, until one lane has enough.
void StreamSource::take_waiting(std::size_t bytes_max) {
    while (!last_.second || last_.second->builder.bytes() < bytes_max) {
        const auto* answer = link_->next();
        if (answer == nullptr) {
            return;
        }
        take(*answer);
    }
}

void StreamSource::take(const Answer& answer) {
    auto delivery = parse_delivery(answer.reply);
    if (!delivery) {
        take_status(answer);
        return;
    }
    auto* lane = lane_of(delivery->consumer);
    // Of a consumer that was given up.
    if (lane != nullptr) {
        take_message(*lane, *delivery, answer);
    }
}

Lane* StreamSource::lane_of(std::string_view consumer) {
    if (last_.second != nullptr && last_.first == consumer) {
        return last_.second;
    }
    auto found = by_consumer_.find(consumer);
    if (found == by_consumer_.end()) {
        return nullptr;
    }
    last_ = {found->first, found->second};
    return found->second;
}

void StreamSource::take_message(Lane& lane, const Delivery& delivery, const Answer& answer) {
    lane.heard_at = now_;
    lane.pending = delivery.pending;
    lane.window.take(answer.body.size());
    if (!is_by_position()) {
        ++lane.read;
        lane.unconfirmed.emplace_back(lane.read, answer.reply);
        reader_.add(lane.builder, lane.read, answer.fields, answer.body);
        return;
    }
    if (delivery.consumer_number != ++lane.consumer_read) {
        reopen(lane, "messages were lost on their way");
        return;
    }
    if (delivery.stream_number <= lane.read) {
        return;
    }
    if (delivery.stream_number != lane.read + 1 && options_.filter.empty() && !lane.gap_behind) {
        lane.gap_behind = lane.read;
    }
    lane.read = delivery.stream_number;
    reader_.add(lane.builder, lane.read, answer.fields, answer.body);
}

/// A full one first, then each in turn.
Lane* StreamSource::fullest(std::size_t bytes_max) {
    auto* some = static_cast<Lane*>(nullptr);
    for (auto step = std::size_t{0}; step < lanes_.size(); ++step) {
        auto at = (turn_ + step) % lanes_.size();
        auto* lane = lanes_[at].get();
        if (lane->builder.count() == 0) {
            continue;
        }
        if (lane->builder.bytes() >= bytes_max) {
            turn_ = at + 1;
            return lane;
        }
        if (some == nullptr) {
            some = lane;
        }
    }
    if (some != nullptr) {
        ++turn_;
    }
    return some;
}

Result<std::optional<event::Chunk>> StreamSource::give(Lane& lane) {
    if (lane.gap_behind && !TRY(is_gap_harmless(lane))) {
        return std::optional<event::Chunk>{};
    }
    return lane.builder.take(lane.partition, is_by_position());
}

/// False: it cannot be said just now.
Result<bool> StreamSource::is_gap_harmless(Lane& lane) {
    if (!session_->is_connected()) {
        return false;
    }
    auto facts = describe_stream(*session_, lane.stream, call_time_max);
    if (!facts && facts.error().code == Errc::Unavailable) {
        return false;
    }
    if (!facts) {
        return std::unexpected(facts.error());
    }
    auto missing = *lane.gap_behind + 1;
    if (facts->first > missing) {
        if (options_.trimmed == Trimmed::Refuse) {
            return fail(Errc::NotFound,
                        "stream {} has dropped messages from {} on that were not read: it begins "
                        "with {} now",
                        lane.stream, missing, facts->first);
        }
        diagnostics_.warn("messages were dropped unread",
                          {{"stream", lane.stream}, {"from", missing}, {"first", facts->first}});
    }
    lane.gap_behind.reset();
    return true;
}

void StreamSource::confirm(std::string_view partition, std::uint64_t position) {
    auto* lane = find(partition);
    if (lane == nullptr) {
        return;
    }
    if (marker_) {
        marker_->move(lane->stream, position);
    }
    auto last = std::string{};
    while (!lane->unconfirmed.empty() && lane->unconfirmed.front().first <= position) {
        last = std::move(lane->unconfirmed.front().second);
        lane->unconfirmed.pop_front();
        if (!lane->consumer.is_acknowledged_once) {
            link_->publish(last, {}, acknowledgement);
        }
    }
    if (lane->consumer.is_acknowledged_once && !last.empty()) {
        link_->publish(last, {}, acknowledgement);
    }
    link_->send();
}

std::optional<std::uint64_t> StreamSource::lag() {
    auto total = std::uint64_t{0};
    for (auto& lane : lanes_) {
        // Nothing is asked for while enough lies here, so nothing was heard of what came since.
        if (lane->is_open && !lane->window.is_asking() && session_->is_connected()) {
            auto facts = describe_stream(*session_, lane->stream, call_time_max);
            if (facts && is_by_position() && options_.filter.empty()) {
                lane->pending = facts->last - std::min(facts->last, lane->read);
            }
        }
        total += lane->pending + lane->builder.count();
    }
    return total;
}

std::string StreamSource::trouble() const {
    auto trouble = session_->trouble();
    if (trouble.empty()) {
        trouble = link_->trouble();
    }
    for (const auto& lane : lanes_) {
        if (trouble.empty()) {
            trouble = lane->trouble;
        }
    }
    return trouble;
}

} // namespace sluice::connector::nats::internal
