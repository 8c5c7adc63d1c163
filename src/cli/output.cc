#include "cli/output.h"

#include <algorithm>
#include <cerrno>

#include <unistd.h>

#include "value/json.h"

namespace sluice::cli {

namespace {

/// What a command wrote can be long; all of it is in the run's history.
constexpr auto detail_bytes_max = std::size_t{4'000};

void write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        auto written = ::write(descriptor, text.data(), text.size());
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return; // Nobody reads it any more.
        }
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

void write_line(int descriptor, std::string_view line) {
    auto text = std::string{line};
    text += '\n';
    write_all(descriptor, text);
}

/// Characters of a UTF-8 text: what it takes on a terminal, near enough.
std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(
        text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string cut(const std::string& text, std::size_t bytes_max) {
    if (text.size() <= bytes_max) {
        return text;
    }
    auto end = bytes_max;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
        --end;
    }
    return text.substr(0, end) + "…";
}

} // namespace

void print_line(std::string_view line) {
    write_line(STDOUT_FILENO, line);
}
void say_line(std::string_view line) {
    write_line(STDERR_FILENO, line);
}

void print_text(std::string_view text) {
    write_all(STDOUT_FILENO, text);
}

void print_json(const Value& value) {
    print_line(::isatty(STDOUT_FILENO) == 1 ? value::to_pretty_json(value) : value::to_json(value));
}

void Table::print() const {
    auto widths = std::vector<std::size_t>(rows_.front().size(), 0);
    for (const auto& row : rows_) {
        for (auto at = std::size_t{0}; at < row.size(); ++at) {
            widths[at] = std::max(widths[at], width_of(row[at]));
        }
    }
    for (const auto& row : rows_) {
        auto line = std::string{};
        for (auto at = std::size_t{0}; at < row.size(); ++at) {
            line += row[at];
            line.append(widths[at] - width_of(row[at]) + 2, ' ');
        }
        line.erase(line.find_last_not_of(' ') + 1);
        print_line(line);
    }
}

std::string brief(const Value& value, std::size_t bytes_max) {
    return cut(value::to_json(value), bytes_max);
}

std::string text_at(const Value& map, std::string_view key) {
    const auto* found = map.find(key);
    if (found == nullptr || found->is_null()) {
        return {};
    }
    return found->is_string() ? std::string{found->as_string()} : value::to_json(*found);
}

std::string describe_error(const Value& error) {
    if (!error.is_map()) {
        return value::to_json(error);
    }
    auto text = text_at(error, "kind");
    auto message = text_at(error, "message");
    if (!message.empty()) {
        text += text.empty() ? message : ": " + message;
    }
    for (const auto& [key, member] : error.as_map()) {
        if (key != "kind" && key != "message") {
            text += fmt::format("\n  {}: {}", key, cut(text_at(error, key), detail_bytes_max));
        }
    }
    return text;
}

} // namespace sluice::cli
