#include "sluice/run/stream_events.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <future>
#include <utility>

#include <poll.h>
#include <unistd.h>

#include "event/codec.h"
#include "sluice/run/event_line.h"

namespace sluice::app {

namespace {

constexpr auto buffer_bytes_max = std::size_t{4} << 20U;
constexpr auto read_bytes = std::size_t{64} << 10U;

} // namespace

Result<bool> StreamEvents::fill() {
    auto watched = std::array{::pollfd{.fd = descriptor_, .events = POLLIN, .revents = 0},
                              ::pollfd{.fd = stop_.descriptor(), .events = POLLIN, .revents = 0}};
    while (::poll(watched.data(), watched.size(), -1) < 0 && errno == EINTR) {
    }
    if (watched[1].revents != 0) {
        buffer_.clear(); // Whatever is unfinished was never acknowledged.
        return false;
    }
    auto before = buffer_.size();
    buffer_.resize(before + read_bytes);
    auto count = ::read(descriptor_, buffer_.data() + before, read_bytes);
    buffer_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count < 0 && errno != EINTR && errno != EAGAIN) {
        return fail(Errc::Io, "cannot read events: {}", std::strerror(errno));
    }
    return count != 0;
}

Result<engine::Receipt> StreamEvents::send(std::vector<event::Event> events) {
    auto answered = std::promise<Result<engine::Receipt>>{};
    engine_.send("default", std::move(events),
                 [&](auto receipt) { answered.set_value(std::move(receipt)); });
    return answered.get_future().get();
}

void StreamEvents::report(std::uint64_t line, const event::Event& event, trigger::Fate fate,
                          const Value* reply) const {
    if (fate == trigger::Fate::NoSuchRun) {
        reports_.bad_line(line, {Errc::NotFound, fmt::format("event \"{}\": there is no run \"{}\"",
                                                             event.id(), event.run())});
    } else if (fate == trigger::Fate::Refused || fate == trigger::Fate::Busy) {
        reports_.bad_line(line, {Errc::Unavailable,
                                 fmt::format("event \"{}\": run \"{}\" keeps as many events as it "
                                             "may; send it again later",
                                             event.id(), event.run())});
    } else {
        reports_.accepted(line, event.id(), fate, reply);
    }
}

Result<void> StreamEvents::send_lines(bool is_end) {
    auto events = std::vector<event::Event>{};
    auto lines = std::vector<std::uint64_t>{};
    auto rest = std::string_view{buffer_};
    while (!rest.empty()) {
        auto end = rest.find('\n');
        if (end == std::string_view::npos && !is_end) {
            break;
        }
        auto line = rest.substr(0, end);
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
        ++line_;
        if (is_blank(line)) {
            continue;
        }
        auto event = read_event_line(codec_, line, run_);
        if (!event) {
            reports_.bad_line(line_, event.error());
            continue;
        }
        events.push_back(*std::move(event));
        lines.push_back(line_);
    }
    buffer_.erase(0, buffer_.size() - rest.size());
    if (events.empty()) {
        return {};
    }
    auto receipt = TRY(send(events));
    for (auto at = std::size_t{0}; at < events.size(); ++at) {
        report(lines[at], events[at], receipt.fates[at], receipt.reply_to(at));
    }
    return {};
}

Result<void> StreamEvents::run() {
    while (TRY(fill())) {
        TRY(send_lines(false));
        if (buffer_.size() > buffer_bytes_max) {
            return fail(Errc::LimitExceeded, "line {} has more than {} bytes", line_ + 1,
                        buffer_bytes_max);
        }
    }
    return send_lines(true);
}

} // namespace sluice::app
