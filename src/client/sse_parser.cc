#include "client/sse_parser.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace sluice::client {

namespace {

constexpr auto byte_order_mark = std::string_view{"\xEF\xBB\xBF"};
constexpr auto retry_max = std::chrono::milliseconds{60'000};

} // namespace

Result<bool> SseParser::feed(std::string_view bytes, const OnServerSentEvent& on_event) {
    while (!bytes.empty()) {
        if (std::exchange(is_after_return_, false) && bytes.front() == '\n') {
            bytes.remove_prefix(1);
            continue;
        }
        auto end = bytes.find_first_of("\r\n");
        auto part = bytes.substr(0, end);
        if (line_.size() + data_.size() + part.size() > event_bytes_max_) {
            return fail(Errc::LimitExceeded, "an event of the stream is larger than {} bytes",
                        event_bytes_max_);
        }
        line_ += part;
        if (end == std::string_view::npos) {
            break;
        }
        is_after_return_ = bytes[end] == '\r';
        bytes.remove_prefix(end + 1);
        if (!end_line(on_event)) {
            return false;
        }
    }
    return true;
}

void SseParser::restart() {
    line_.clear();
    type_.clear();
    data_.clear();
    is_first_line_ = true;
    is_after_return_ = false;
}

bool SseParser::end_line(const OnServerSentEvent& on_event) {
    auto line = std::exchange(line_, {});
    if (std::exchange(is_first_line_, false) && line.starts_with(byte_order_mark)) {
        line.erase(0, byte_order_mark.size());
    }
    if (line.empty()) {
        return dispatch(on_event);
    }
    auto colon = line.find(':');
    auto value =
        colon == std::string::npos ? std::string_view{} : std::string_view{line}.substr(colon + 1);
    if (value.starts_with(' ')) {
        value.remove_prefix(1);
    }
    take_field(std::string_view{line}.substr(0, colon), value);
    return true;
}

void SseParser::take_field(std::string_view name, std::string_view value) {
    if (name == "data") {
        data_ += value;
        data_ += '\n';
    } else if (name == "event") {
        type_ = value;
    } else if (name == "id" && value.find('\0') == std::string_view::npos) {
        last_id_ = value;
    } else if (name == "retry") {
        auto count = std::int64_t{0};
        auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), count);
        if (error == std::errc{} && end == value.data() + value.size() && count >= 0) {
            retry_ = std::min(std::chrono::milliseconds{count}, retry_max);
        }
    }
}

bool SseParser::dispatch(const OnServerSentEvent& on_event) {
    auto type = std::exchange(type_, {});
    auto data = std::exchange(data_, {});
    if (data.empty()) {
        return true;
    }
    data.pop_back();
    return on_event({.type = type.empty() ? "message" : std::move(type),
                     .data = std::move(data),
                     .id = last_id_});
}

} // namespace sluice::client
