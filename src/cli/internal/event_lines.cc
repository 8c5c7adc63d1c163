#include "cli/internal/event_lines.h"

#include <utility>

namespace sluice::cli {

namespace {

constexpr auto whole_bytes_max = std::size_t{64} << 20U;

std::string_view trimmed(std::string_view text) {
    auto begin = text.find_first_not_of(" \t\r\n");
    return begin == std::string_view::npos
               ? std::string_view{}
               : text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin);
}

} // namespace

Result<std::vector<Event>> EventLines::feed(std::string_view bytes) {
    held_ += bytes;
    auto events = std::vector<Event>{};
    auto begin = std::size_t{0};
    while (form_ != Form::Whole) {
        auto end = held_.find('\n', begin);
        if (end == std::string::npos) {
            break;
        }
        auto line = trimmed(std::string_view{held_}.substr(begin, end - begin));
        if (form_ == Form::Unknown && !line.empty()) {
            // An object that goes on below, or a list.
            form_ = line.starts_with('[') || !line.ends_with('}') ? Form::Whole : Form::Lines;
            continue;
        }
        ++line_;
        TRY(take_line(line, events));
        begin = end + 1;
    }
    held_.erase(0, begin);
    if (held_.size() > whole_bytes_max) {
        return fail(Errc::LimitExceeded,
                    "more than {} MiB in one text: write one event a line instead",
                    whole_bytes_max >> 20U);
    }
    return events;
}

Result<std::vector<Event>> EventLines::finish() {
    auto events = std::vector<Event>{};
    auto text = trimmed(held_);
    if (text.starts_with('[') && form_ != Form::Lines) {
        return codec_.parse_batch(text);
    }
    ++line_;
    TRY(take_line(text, events));
    return events;
}

Result<void> EventLines::take_line(std::string_view line, std::vector<Event>& events) {
    if (line.empty()) {
        return {};
    }
    auto event = codec_.parse(line);
    if (!event) {
        return fail(event.error().code, "line {}: {}", line_, event.error().message);
    }
    events.push_back(*std::move(event));
    return {};
}

} // namespace sluice::cli
