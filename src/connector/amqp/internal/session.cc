#include "connector/amqp/internal/session.h"

#include <algorithm>
#include <thread>
#include <tuple>

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

Result<void> Session::attach(const std::string& queue, std::uint64_t position) {
    if (position > 0) {
        return attach_stream(queue, position);
    }
    auto start = StreamStart{};
    std::ignore = TRY(open_lane({.name = queue}, &start, options_.effective_prefetch()));
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
    auto is_waiting = [](const Lane* lane) { return lane->first_number() == 0; };
    while (std::ranges::any_of(lanes, is_waiting) && Steady::now() < deadline) {
        std::ignore = TRY(receive(bytes_unbounded, deadline - Steady::now()));
    }
    return {};
}

Result<std::map<std::string, std::uint64_t>> Session::probe(std::span<const std::string> streams,
                                                            StreamStart::At end, Nanos wait) {
    auto start = StreamStart{.at = end};
    auto lanes = std::vector<Lane*>{};
    auto done = Result<void>{};
    for (auto next = streams.begin(); done && next != streams.end(); ++next) {
        if (auto lane = open_lane({.name = *next, .is_probe = true}, &start, 1); lane) {
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
        auto* lane = gaps_.back();
        gaps_.pop_back();
        if (auto behind = lane->take_gap(); behind != 0) {
            TRY(check_next_is_there(lane->name(), behind));
        }
    }
    return {};
}

void Session::detach(const std::string& queue) {
    if (auto* lane = find(queue); lane != nullptr) {
        close_lane(*lane);
    }
}

void Session::close_lane(Lane& lane) {
    std::erase(waiting_, &lane);
    std::erase(gaps_, &lane);
    waiting_bytes_ -= lane.noted_bytes;
    waiting_count_ -= lane.noted_count;
    end_lane(lane);
}

void Session::note(Lane& lane) {
    waiting_bytes_ += lane.bytes() - std::exchange(lane.noted_bytes, lane.bytes());
    waiting_count_ += lane.count() - std::exchange(lane.noted_count, lane.count());
    if (lane.count() != 0 && !lane.is_waiting) {
        lane.is_waiting = true;
        waiting_.push_back(&lane);
    }
    if (lane.has_gap()) [[unlikely]] {
        gaps_.push_back(&lane);
    }
}

Result<void> Session::pump(std::size_t bytes_max, Deadline deadline) {
    TRY(drain(bytes_max, deadline));
    auto is_gathering = [&] {
        return is_busy_ && waiting_count_ < gathered_min && waiting_bytes_ < bytes_max;
    };
    for (auto waits = 0; is_gathering() && waits < gathering_waits_max; ++waits) {
        std::this_thread::sleep_for(gathering_wait);
        TRY(drain(bytes_max, deadline));
    }
    is_busy_ = waiting_count_ >= gathered_min / 8;
    return gaps_.empty() ? Result<void>{} : check_gaps();
}

Result<void> Session::drain(std::size_t bytes_max, Deadline deadline) {
    while (waiting_bytes_ < bytes_max) {
        if (TRY(receive(bytes_max - waiting_bytes_, Nanos{0}))) {
            continue;
        }
        TRY(flush());
        auto wait = Nanos{deadline - Steady::now()};
        if (!waiting_.empty() || wait <= Nanos{0} ||
            !TRY(receive(bytes_max - waiting_bytes_, wait))) {
            break;
        }
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
    waiting_bytes_ -= std::exchange(lane->noted_bytes, 0);
    waiting_count_ -= std::exchange(lane->noted_count, 0);
    return lane->take_chunk();
}

} // namespace sluice::connector::amqp::internal
