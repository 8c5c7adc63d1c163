#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "trigger/spec.h"
#include "value/value.h"

namespace sluice::trigger {

inline constexpr std::size_t problems_max = 100;
inline constexpr std::size_t expression_bytes_max = 64UL * 1024;

/// `the text "abc"`, `the number 3`, `a list`: what was found, short enough for a message.
std::string describe(const Value& found);
/// A text in quotes, cut when it is long.
std::string in_quotes(std::string_view text);
/// `triggers` and `2` give `triggers/2`.
std::string join_path(std::string_view path, std::string_view part);
std::string join_path(std::string_view path, std::size_t index);
/// Appends a problem unless there are `problems_max` already.
void report(std::vector<Problem>& problems, std::string path, std::string message);

/// An integer that is not negative, of either integer kind.
std::optional<std::uint64_t> as_count(const Value& value);
/// A Duration, a text such as "30s" or a number of seconds; nothing when negative or none of these.
std::optional<Nanos> as_duration(const Value& value);

/// A text that is not empty and not longer than an expression may be; anything else is reported.
std::optional<std::string> read_expression(const Value& form, const std::string& path,
                                           std::vector<Problem>& problems);

/// A map as its author wrote it, read member by member. What is wrong becomes a problem with its
/// place, and the member then reads as absent. So does a member that is null.
class FormReader {
public:
    /// Reports what is no map, and members that are neither in `known` nor in `extra`.
    FormReader(const Value& form, std::string path, std::vector<Problem>& problems,
               std::initializer_list<std::string_view> known,
               std::span<const std::string> extra = {});

    const Value* find(std::string_view name) const;
    std::string path_of(std::string_view name) const { return join_path(path_, name); }
    void report(std::string_view name, std::string message) const;
    /// Reports `name` with what was found there beside what was expected.
    void expect(std::string_view name, std::string_view expected) const;

    std::optional<bool> boolean(std::string_view name) const;
    std::optional<std::uint64_t> count(std::string_view name, std::uint64_t min,
                                       std::uint64_t max) const;
    std::optional<double> number(std::string_view name) const;
    std::optional<Nanos> duration(std::string_view name) const;
    std::optional<std::string> text(std::string_view name) const;
    std::optional<std::string> expression(std::string_view name) const;
    /// Null when absent.
    Value map(std::string_view name) const;

    /// One of the names in a table; `current` stays when the member is absent.
    template <typename Enum, std::size_t size>
    Enum choice(std::string_view name, const std::pair<std::string_view, Enum> (&table)[size],
                Enum current) const {
        const auto* member = find(name);
        if (member == nullptr) {
            return current;
        }
        auto names = std::string{};
        for (const auto& [text, choice] : table) {
            if (member->is_string() && member->as_string() == text) {
                return choice;
            }
            names += names.empty() ? "" : ", ";
            names += text;
        }
        expect(name, "one of " + names);
        return current;
    }

private:
    const Value& form_;
    std::string path_;
    std::vector<Problem>& problems_;
};

} // namespace sluice::trigger
