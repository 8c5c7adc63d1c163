#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/command.h"
#include "value/value.h"

namespace sluice::cli {

/// Data goes to standard output, everything else to standard error. A line is written at once, so
/// lines of several threads do not mix.
void print_line(std::string_view line);
void say_line(std::string_view line);
/// As it is: for what is drawn on a terminal.
void print_text(std::string_view text);

template <typename... Args>
void print(fmt::format_string<Args...> format, Args&&... args) {
    print_line(fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void say(fmt::format_string<Args...> format, Args&&... args) {
    say_line(fmt::format(format, std::forward<Args>(args)...));
}

/// Compact, or indented when a person reads it from a terminal.
void print_json(const Value& value);

/// Rows under a heading, columns as wide as they need to be.
class Table {
public:
    explicit Table(std::vector<std::string> heading) : rows_{std::move(heading)} {}

    void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
    std::size_t size() const { return rows_.size() - 1; }
    void print() const;

private:
    std::vector<std::vector<std::string>> rows_;
};

/// The option that every command with something to tell has.
inline Word json_word(bool& is_json, std::string help) {
    return {.name = "--json", .target = &is_json, .help = std::move(help)};
}

/// On one line and not longer than this, for a table.
std::string brief(const Value& value, std::size_t bytes_max = 60);
/// The error of a run or task as a person reads it: kind, message, and below it whatever else there
/// is.
std::string describe_error(const Value& error);
/// A member of a map as text; empty when there is none.
std::string text_at(const Value& map, std::string_view key);

/// What a counter becomes in JSON.
inline Value number(std::uint64_t count) {
    return Value{static_cast<std::int64_t>(count)};
}

} // namespace sluice::cli
