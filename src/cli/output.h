#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "value/wording.h"

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

using value::brief;
using value::describe_error;
using value::number;
using value::text_at;

} // namespace sluice::cli
