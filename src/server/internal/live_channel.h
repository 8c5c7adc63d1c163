#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/strong.h"
#include "http/server.h"
#include "value/value.h"

namespace sluice::server {

/// One thing that happened, as its readers are told.
struct LiveMessage {
    std::uint64_t number = 0; ///< Rises; where some are left out, readers hear of a gap.
    std::string name;         ///< `event:` of the stream.
    std::string data;         ///< JSON.
    std::string space;        ///< Whose it is, and what else readers choose by.
    Value about{};
};

/// A server-sent event, as WHATWG HTML, "Server-sent events", has it on the wire.
std::string sent_event(std::string_view name, std::string_view id, std::string_view data);

using LiveReaderId = Strong<struct LiveReaderTag, std::uint64_t>;

struct LiveReader {
    std::shared_ptr<http::Stream> stream;
    std::function<bool(const LiveMessage&)> wants; ///< Empty: everything.
    std::optional<std::uint64_t> after; ///< The last number it has; nothing: begins with the next.
    bool is_catching_up = false;        ///< From elsewhere: it is told nothing until it has.
};

struct LiveLimits {
    std::size_t window_bytes = std::size_t{128} << 10U; ///< What a channel remembers.
    std::size_t offer_bytes = std::size_t{8} << 10U;    ///< What a reader is given at once.
    std::size_t lag_bytes = std::size_t{32} << 10U;     ///< Beyond, a reader skips to the newest.
};

/// The last messages of one topic and those who read it. Each reader is given a bounded part of
/// what it has not seen; one that falls behind hears of a gap instead. So the cost of a reader does
/// not depend on how much happens, nor on how slow it is. One thread alone uses it.
class LiveChannel {
public:
    /// `prefix` goes before numbers in ids.
    LiveChannel(std::string prefix, LiveLimits limits)
        : prefix_(std::move(prefix)), limits_(limits) {}

    void add(LiveMessage message);
    void join(LiveReaderId id, LiveReader reader);
    /// Whether it was there.
    bool leave(LiveReaderId id) { return readers_.erase(id) > 0; }
    /// It has caught up to right before this number.
    void go_live(LiveReaderId id, std::uint64_t next);
    /// Offers every reader what is new to it.
    void flush();
    /// Tells every reader that the connection stands.
    void beat();

    std::size_t readers() const { return readers_.size(); }
    std::uint64_t last() const { return last_; }
    const std::string& prefix() const { return prefix_; }
    /// Some readers have not been offered everything.
    bool has_unread() const { return has_unread_; }

private:
    struct Kept {
        LiveMessage message;
        std::string text;
        std::uint64_t end = 0; ///< Bytes of all messages up to and with this one.
    };
    struct Reading {
        LiveReader reader;
        std::uint64_t next = 0; ///< Zero: whatever comes first.
    };
    /// What readers at the same place are given, made once for all of them.
    struct Part {
        std::uint64_t from = 0;
        std::uint64_t to = 0;
        std::string text;
    };

    Part part_for(const Reading& reading) const;
    void append_gap(Part& part, std::uint64_t to) const;
    std::string id_of(std::uint64_t number) const;

    std::string prefix_;
    LiveLimits limits_;
    std::deque<Kept> kept_;
    std::uint64_t bytes_ = 0;
    std::uint64_t last_ = 0;
    bool has_unread_ = false;
    std::map<LiveReaderId, Reading> readers_;
};

} // namespace sluice::server
