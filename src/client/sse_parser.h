#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace sluice::client {

/// One of a live stream.
struct ServerSentEvent {
    std::string type; ///< `message` where it says none.
    std::string data;
    std::string id; ///< The last one given, here or before: where to resume.

    bool operator==(const ServerSentEvent&) const = default;
};

/// False: enough of them.
using OnServerSentEvent = std::function<bool(const ServerSentEvent&)>;

/// The format text/event-stream, bytes in and events out: HTML, "Interpreting an event stream".
/// Bytes may be cut anywhere.
class SseParser {
public:
    explicit SseParser(std::size_t event_bytes_max = std::size_t{16} << 20U)
        : event_bytes_max_(event_bytes_max) {}

    /// False when `on_event` had enough: the rest of the bytes is dropped. Fails with LimitExceeded
    /// for an event that is too large.
    Result<bool> feed(std::string_view bytes, const OnServerSentEvent& on_event);

    /// Where a new stream should go on, and how long to wait before it.
    const std::string& last_id() const { return last_id_; }
    std::optional<Nanos> retry() const { return retry_; }
    /// A new stream begins: what was unfinished is dropped, the last id stays.
    void restart();

private:
    bool end_line(const OnServerSentEvent& on_event);
    void take_field(std::string_view name, std::string_view value);
    bool dispatch(const OnServerSentEvent& on_event);

    std::size_t event_bytes_max_;
    std::string line_;
    std::string type_;
    std::string data_;
    std::string last_id_;
    std::optional<Nanos> retry_;
    bool is_first_line_ = true;
    bool is_after_return_ = false; ///< A line feed now belongs to the line that ended.
};

} // namespace sluice::client
