// The half of StreamSource that keeps connection and consumers.

#include <algorithm>
#include <charconv>
#include <utility>

#include "connector/nats/internal/stream_source.h"

namespace sluice::connector::nats::internal {

namespace {

constexpr auto request_time = Nanos{std::chrono::seconds{30}};
constexpr auto heartbeat = Nanos{std::chrono::seconds{5}};
// After so many heartbeats that did not come a consumer is taken for lost.
constexpr auto heartbeats_missed = 3;
constexpr auto heartbeat_status = std::string_view{"100"};
constexpr auto expired_status = std::string_view{"408"};
constexpr auto nothing_status = std::string_view{"404"};
constexpr auto conflict_status = std::string_view{"409"};

/// The two numbers at the end of `_INBOX.….lane.request`.
std::optional<std::pair<std::uint64_t, std::uint64_t>> numbers_in(std::string_view subject) {
    auto dot = subject.find('.');
    if (dot == std::string_view::npos) {
        return std::nullopt;
    }
    auto read = [](std::string_view text) {
        auto number = std::uint64_t{0};
        std::from_chars(text.data(), text.data() + text.size(), number);
        return number;
    };
    return std::pair{read(subject.substr(0, dot)), read(subject.substr(dot + 1))};
}

} // namespace

Result<bool> StreamSource::keep_connected() {
    session_->mend(now_);
    if (!session_->is_connected()) {
        return false;
    }
    if (!TRY(link_->keep(now_))) {
        return false;
    }
    if (std::exchange(seen_incarnation_, link_->incarnation()) != link_->incarnation()) {
        reopen_all();
    }
    return true;
}

Result<void> StreamSource::keep_open() {
    if (!TRY(keep_connected())) {
        return {};
    }
    if (link_->take_unanswered()) {
        find_lost();
    }
    for (auto& lane : lanes_) {
        if (lane->is_open && lane->window.is_asking() &&
            now_ - lane->heard_at > heartbeat * heartbeats_missed) {
            reopen(*lane, "the consumer is silent");
        }
        if (!lane->is_open && now_ >= lane->open_at) {
            TRY(open_lane(*lane));
        }
        ask(*lane);
    }
    return {};
}

/// One of the consumers is gone, and it is not said which.
void StreamSource::find_lost() {
    for (auto& lane : lanes_) {
        if (!lane->is_open || !lane->window.is_asking()) {
            continue;
        }
        auto found = count_pending(*session_, lane->stream, lane->consumer.name, call_time_max);
        if (!found) {
            reopen(*lane, fmt::format("the consumer of {} is lost: {}", lane->stream,
                                      found.error().message));
        }
    }
}

/// What was asked over another connection is not answered any more.
void StreamSource::reopen_all() {
    for (auto& lane : lanes_) {
        if (lane->is_open) {
            reopen(*lane, {});
            lane->open_at = now_;
        }
    }
}

/// Fails when it cannot be read for good; otherwise it is tried again later.
Result<void> StreamSource::open_lane(Lane& lane) {
    auto done = try_open(lane);
    if (done) {
        lane.failures = 0;
        lane.trouble.clear();
        lane.heard_at = now_;
        return {};
    }
    if (done.error().code != Errc::Unavailable) {
        return done;
    }
    lane.trouble = done.error().message;
    lane.open_at = now_ + backoff(lane.failures++, random_);
    return {};
}

Result<void> StreamSource::try_open(Lane& lane) {
    if (is_by_position()) {
        auto facts = TRY(describe_stream(*session_, lane.stream, call_time_max));
        TRY(check_position(lane, facts));
        lane.consumer =
            TRY(create_reader(*session_, lane.stream, options_.filter, lane.read, call_time_max));
    } else {
        lane.consumer =
            TRY(find_consumer(*session_, lane.stream, options_.consumer, call_time_max));
    }
    lane.consumer_read = 0;
    lane.pending = lane.consumer.pending;
    lane.window.reset();
    lane.window.set_bounds(lane.consumer.bounds);
    lane.is_open = true;
    by_consumer_[fmt::format("{}.{}", lane.stream, lane.consumer.name)] = &lane;
    return {};
}

Result<void> StreamSource::check_position(Lane& lane, const StreamFacts& facts) {
    if (!facts.is_kept) {
        return fail(Errc::Unsupported,
                    "stream {} drops what its consumers acknowledge: read it by a consumer of "
                    "yours (consumer), or give it the retention limits",
                    lane.stream);
    }
    if (lane.read == 0 && options_.start == Start::New) {
        lane.read = facts.last;
    }
    if (lane.read > facts.last) {
        return fail(Errc::NotFound,
                    "stream {} ends with {}, and {} was read of it: it is not the same stream any "
                    "more",
                    lane.stream, facts.last, lane.read);
    }
    if (facts.first <= lane.read + 1) {
        return {};
    }
    if (options_.trimmed == Trimmed::Refuse) {
        return fail(Errc::NotFound,
                    "stream {} begins with {}, and {} should come next: what lies between was "
                    "dropped unread (trimmed: skip goes on with what is there)",
                    lane.stream, facts.first, lane.read + 1);
    }
    diagnostics_.warn("messages were dropped unread",
                      {{"stream", lane.stream}, {"from", lane.read + 1}, {"first", facts.first}});
    lane.read = facts.first - 1;
    return {};
}

void StreamSource::reopen(Lane& lane, std::string trouble) {
    std::erase_if(by_consumer_, [&](const auto& entry) { return entry.second == &lane; });
    last_ = {};
    if (is_by_position() && lane.is_open) {
        drop_reader(*session_, lane.stream, lane.consumer.name);
    }
    lane.close();
    lane.trouble = std::move(trouble);
    lane.open_at = now_ + backoff(lane.failures++, random_);
}

void StreamSource::ask(Lane& lane) {
    while (lane.is_open) {
        auto was_asking = lane.window.is_asking();
        auto asked = lane.window.ask(next_request_ + 1, lane.builder.bytes(), lane.pending > 0);
        if (!asked) {
            return;
        }
        ++next_request_;
        if (!was_asking) {
            lane.heard_at = now_;
        }
        auto expires = lane.consumer.request_time_max > Nanos{0}
                           ? std::min(lane.consumer.request_time_max, request_time)
                           : request_time;
        auto body = fmt::format(R"({{"batch":{},"expires":{},"idle_heartbeat":{})", asked->messages,
                                expires.count(), std::min(heartbeat, expires / 2).count());
        body += asked->bytes_max == 0 ? "}" : fmt::format(R"(,"max_bytes":{}}})", asked->bytes_max);
        auto subject = fmt::format("{}CONSUMER.MSG.NEXT.{}.{}", session_->api(), lane.stream,
                                   lane.consumer.name);
        auto answers = fmt::format("{}{}.{}", link_->prefix(), lane.id, asked->request);
        link_->publish(subject, answers, body);
        link_->send();
    }
}

void StreamSource::take_status(const Answer& answer) {
    if (!answer.subject.starts_with(link_->prefix())) {
        return;
    }
    auto numbers = numbers_in(answer.subject.substr(link_->prefix().size()));
    auto found = std::ranges::find_if(
        lanes_, [&](const auto& lane) { return numbers && lane->id == numbers->first; });
    if (found == lanes_.end() || !(*found)->is_open) {
        return;
    }
    auto& lane = **found;
    auto status = answer.status;
    auto text = answer.description;
    lane.heard_at = now_;
    if (status == heartbeat_status) {
        return;
    }
    if (status == expired_status || status == nothing_status) {
        lane.window.end(numbers->second);
    } else if (status == conflict_status && text.contains("MaxBytes")) {
        lane.window.end_too_large(numbers->second);
    } else if (lane.window.has(numbers->second)) {
        // Of a request of this consumer: gone, or its leader is.
        reopen(lane, fmt::format("the consumer of {} is lost: {} {}", lane.stream, status, text));
    }
}

} // namespace sluice::connector::nats::internal
