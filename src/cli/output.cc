#include "cli/output.h"

#include <algorithm>
#include <cerrno>

#include <unistd.h>

#include "value/json.h"

namespace sluice::cli {

namespace {

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

} // namespace sluice::cli
