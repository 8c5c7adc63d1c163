#include "connector/amqp/internal/publisher.h"

#include <algorithm>

#include <fmt/format.h>

#include "connector/amqp/internal/bytes.h"
#include "connector/amqp/internal/failure.h"

namespace sluice::connector::amqp::internal {

namespace {

constexpr auto publishing_channel = amqp_channel_t{1};
constexpr auto asking_channel = amqp_channel_t{2};

} // namespace

Publisher::Publisher(const Options& options, Connection connection)
    : options_(options), connection_(std::move(connection)), codec_(options.limits) {}

Result<Publisher> Publisher::open(const Options& options) {
    auto connection = TRY(Connection::open(options, "sluice producer"));
    TRY(connection.open_channel(publishing_channel));
    TRY(connection.select_confirms(publishing_channel));
    return Publisher{options, std::move(connection)};
}

/// A named exchange is one place: its routing keys may be without number.
const std::string& Publisher::place_of(const Pending& pending) const {
    return options_.exchange.empty() && !pending.event.to.empty() ? pending.event.to
                                                                  : options_.exchange;
}

bool Publisher::is_free(const Pending& pending) const {
    auto found = places_.find(place_of(pending));
    return found == places_.end() || found->second.is_confirmed;
}

Result<void> Publisher::publish(Pending pending) {
    if (const auto& place = place_of(pending); !places_.contains(place)) {
        places_.emplace(place, Place{.first_published_at = std::chrono::steady_clock::now()});
    }
    auto& sent = window_.emplace_back(Sent{.pending = std::move(pending)});
    const auto& event = sent.pending.event;
    const auto& key = event.to.empty() ? options_.routing_key : event.to;
    if (options_.mode == Mode::Binary) {
        // What does not parse is the reader's to refuse.
        if (auto parsed = codec_.parse(event.json); parsed) {
            auto binary = event::to_binary(*parsed);
            return connection_.publish(publishing_channel, options_.exchange, key,
                                       writer_.binary(event.key, binary), binary.body);
        }
    }
    return connection_.publish(publishing_channel, options_.exchange, key,
                               writer_.structured(event.key), event.json);
}

Result<void> Publisher::hear(std::vector<Outcome>& outcomes) {
    auto frame = amqp_frame_t{};
    missing_.clear();
    while (TRY(connection_.next(frame, Nanos{0}))) {
        auto handled = handle(frame, outcomes);
        connection_.release(frame.channel);
        TRY(std::move(handled));
    }
    return {};
}

Result<void> Publisher::handle(const amqp_frame_t& frame, std::vector<Outcome>& outcomes) {
    if (frame.frame_type == AMQP_FRAME_HEADER && returned_) {
        const auto* properties =
            static_cast<const amqp_basic_properties_t*>(frame.payload.properties.decoded);
        auto has_id = (properties->_flags & AMQP_BASIC_MESSAGE_ID_FLAG) != 0;
        return note_returned(has_id ? view_of(properties->message_id) : std::string_view{});
    }
    return frame.frame_type == AMQP_FRAME_METHOD ? handle_method(frame.payload.method, outcomes)
                                                 : Result<void>{};
}

Result<void> Publisher::handle_method(const amqp_method_t& method, std::vector<Outcome>& outcomes) {
    switch (method.id) {
        case AMQP_BASIC_ACK_METHOD: {
            const auto* ack = static_cast<const amqp_basic_ack_t*>(method.decoded);
            settle(ack->delivery_tag, ack->multiple != 0, outcomes);
            return {};
        }
        case AMQP_BASIC_NACK_METHOD:
            // All that is not confirmed is sent again, so that the order is kept.
            return fail(Errc::Unavailable,
                        "the broker refused a message: its queue is full, or lost");
        case AMQP_BASIC_RETURN_METHOD: {
            const auto* back = static_cast<const amqp_basic_return_t*>(method.decoded);
            returned_ = {std::string{view_of(back->routing_key)},
                         std::string{view_of(back->reply_text)}};
            return {};
        }
        case AMQP_CONNECTION_BLOCKED_METHOD: is_blocked_ = true; return {};
        case AMQP_CONNECTION_UNBLOCKED_METHOD: is_blocked_ = false; return {};
        case AMQP_CHANNEL_CLOSE_METHOD:
        case AMQP_CONNECTION_CLOSE_METHOD: return std::unexpected(failure_of(method));
        default: return {};
    }
}

/// A message is returned before it is confirmed, and carries what it was sent with.
Result<void> Publisher::note_returned(std::string_view message_id) {
    auto [key, reason] = *std::exchange(returned_, std::nullopt);
    auto id = std::string{message_id};
    auto is_meant = [&](const Sent& sent) {
        const auto& event = sent.pending.event;
        return !sent.is_returned && !sent.is_settled &&
               (event.to.empty() ? options_.routing_key : event.to) == key &&
               (id.empty() || event.key == id);
    };
    if (auto found = std::ranges::find_if(window_, is_meant); found != window_.end()) {
        found->is_returned = true;
        found->reason = std::move(reason);
    }
    return options_.exchange.empty() ? check_queue_is_missing(key) : Result<void>{};
}

/// A broker that has just started has no way to a queue until that has a leader.
Result<void> Publisher::check_queue_is_missing(const std::string& queue) {
    if (missing_.contains(queue)) {
        return {};
    }
    TRY(connection_.open_channel(asking_channel));
    auto counted = connection_.count_messages(asking_channel, queue);
    if (counted) {
        return fail(Errc::Unavailable, "queue {} was not there for a moment", queue);
    }
    if (counted.error().code != Errc::NotFound) {
        return std::unexpected(std::move(counted).error());
    }
    missing_.insert(queue);
    return {};
}

void Publisher::settle(std::uint64_t tag, bool is_multiple, std::vector<Outcome>& outcomes) {
    auto last = tag < first_tag_ ? std::size_t{0} : static_cast<std::size_t>(tag - first_tag_) + 1;
    last = std::min(last, window_.size());
    for (auto at = is_multiple || last == 0 ? std::size_t{0} : last - 1; at < last; ++at) {
        settle_one(window_[at], outcomes);
    }
    drop_settled();
}

void Publisher::drop_settled() {
    while (!window_.empty() && window_.front().is_settled) {
        window_.pop_front();
        ++first_tag_;
        --settled_;
    }
}

void Publisher::give_up(std::chrono::steady_clock::time_point before,
                        std::vector<Outcome>& outcomes) {
    for (auto& sent : window_) {
        if (sent.pending.sent_at >= before) {
            break;
        }
        if (!std::exchange(sent.is_settled, true)) {
            ++settled_;
            if (!is_free(sent.pending)) {
                places_.erase(place_of(sent.pending)); // The next one is the first.
            }
            outcomes.emplace_back(std::move(sent.pending),
                                  fail(Errc::Unavailable, "the broker did not confirm the event"));
        }
    }
    drop_settled();
}

Result<void> Publisher::check_answers(std::chrono::steady_clock::time_point now) const {
    auto before = now - options_.first_confirmation;
    auto is_stuck = [&](const auto& each) {
        return !each.second.is_confirmed && each.second.first_published_at < before;
    };
    auto stuck = is_blocked_ ? places_.end() : std::ranges::find_if(places_, is_stuck);
    return stuck == places_.end()
               ? Result<void>{}
               : fail(Errc::Unavailable, "the first message to {} is not confirmed", stuck->first);
}

void Publisher::settle_one(Sent& sent, std::vector<Outcome>& outcomes) {
    if (std::exchange(sent.is_settled, true)) {
        return;
    }
    ++settled_;
    places_[place_of(sent.pending)].is_confirmed = true;
    auto result = Result<void>{};
    const auto& event = sent.pending.event;
    if (sent.is_returned) {
        result = fail(Errc::NotFound,
                      "no queue takes what goes to exchange '{}' with routing key '{}' ({}): make "
                      "one, or bind one",
                      options_.exchange, event.to.empty() ? options_.routing_key : event.to,
                      sent.reason);
    }
    outcomes.emplace_back(std::move(sent.pending), std::move(result));
}

std::deque<Pending> Publisher::take_unconfirmed() {
    auto unconfirmed = std::deque<Pending>{};
    for (auto& sent : window_) {
        if (!sent.is_settled) {
            unconfirmed.push_back(std::move(sent.pending));
        }
    }
    window_.clear();
    settled_ = 0;
    return unconfirmed;
}

} // namespace sluice::connector::amqp::internal
