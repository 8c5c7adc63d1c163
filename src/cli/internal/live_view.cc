#include "cli/internal/live_view.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "cli/internal/time_bound.h"
#include "cli/output.h"
#include "value/time_text.h"

namespace sluice::cli {

namespace {

/// Up so many lines and to their beginning, with all below gone.
std::string take_back(std::size_t lines) {
    return lines == 0 ? std::string{} : fmt::format("\x1b[{}A\r\x1b[J", lines);
}

/// No longer than the terminal is wide: a line that wraps would be taken back by half.
std::string fitted(const std::string& text, std::size_t columns) {
    auto width = std::size_t{0};
    auto end = std::size_t{0};
    while (end < text.size()) {
        auto is_inner = (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U;
        if (!is_inner && ++width > columns) {
            break;
        }
        ++end;
    }
    return text.substr(0, end);
}

std::span<const Value> changes_of(const Value& entry) {
    const auto* changes = entry.find("changes");
    return changes != nullptr && changes->is_list() ? changes->as_list() : std::span<const Value>{};
}

} // namespace

void LiveView::add(const Value& entry) {
    lines_.push_back(event_line(entry));
    if (lines_.size() > rows_) {
        lines_.pop_front();
    }
    events_ = text_at(entry, "event");
    fired_ += static_cast<std::size_t>(std::ranges::count_if(
        changes_of(entry), [](const Value& each) { return text_at(each, "change") == "fired"; }));
}

std::string LiveView::draw(std::string_view status) {
    auto text = take_back(drawn_);
    auto heading =
        fmt::format("run {}  {}  {} events, {} fired here", run_, status, events_, fired_);
    text += fitted(heading, columns_) + "\n";
    for (const auto& line : lines_) {
        text += fitted("  " + line, columns_) + "\n";
    }
    drawn_ = lines_.size() + 1;
    return text;
}

bool has_ended_run(const Value& entry) {
    return std::ranges::any_of(
        changes_of(entry), [](const Value& each) { return text_at(each, "change") == "ended"; });
}

std::string event_line(const Value& entry) {
    const auto* event = entry.find("json");
    auto about = event == nullptr ? Value{} : *event;
    auto time = value::parse_time(text_at(entry, "time"));
    auto subject = text_at(about, "subject");
    return fmt::format("#{}  {}  {}  {}{}  id {}  {}", text_at(entry, "event"),
                       time ? time_text(*time) : text_at(entry, "time"), text_at(entry, "origin"),
                       text_at(about, "type"), subject.empty() ? "" : " of " + subject,
                       text_at(about, "id"), text_at(entry, "fate"));
}

} // namespace sluice::cli
