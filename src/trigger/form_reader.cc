#include "trigger/form_reader.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/nearest.h"
#include "value/json.h"
#include "value/time_text.h"

namespace sluice::trigger {

namespace {

constexpr auto shown_bytes_max = std::size_t{60};

std::string_view shortened(std::string_view text) {
    if (text.size() <= shown_bytes_max) {
        return text;
    }
    auto end = shown_bytes_max;
    // A cut inside a UTF-8 character would make the message unreadable.
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
        --end;
    }
    return text.substr(0, end);
}

std::string unknown_member(std::string_view name, std::span<const std::string_view> known) {
    auto meant = nearest(name, known);
    if (!meant.empty()) {
        return fmt::format("unknown member {}: did you mean \"{}\"?", in_quotes(name), meant);
    }
    return fmt::format("unknown member {}, expected one of {}", in_quotes(name),
                       fmt::join(known, ", "));
}

} // namespace

std::string describe(const Value& found) {
    switch (found.kind()) {
        case value::Kind::String: return "the text " + in_quotes(found.as_string());
        case value::Kind::Bool: return found.as_bool() ? "true" : "false";
        case value::Kind::Int: return fmt::format("the number {}", found.as_int());
        case value::Kind::Uint: return fmt::format("the number {}", found.as_uint());
        case value::Kind::Double: return fmt::format("the number {}", found.as_double());
        case value::Kind::Duration: return value::format_duration(found.as_duration());
        case value::Kind::Null: return "nothing";
        case value::Kind::List: return found.size() == 0 ? "an empty list" : "a list";
        case value::Kind::Map: return found.size() == 0 ? "an empty map" : "a map";
        case value::Kind::Bytes: return "bytes";
        case value::Kind::Timestamp: return "a timestamp";
    }
    return "something else";
}

std::string in_quotes(std::string_view text) {
    auto shown = shortened(text);
    auto out = std::string{};
    value::write_json_string(shown, out);
    if (shown.size() < text.size()) {
        out.insert(out.size() - 1, "…");
    }
    return out;
}

std::string join_path(std::string_view path, std::string_view part) {
    return path.empty() ? std::string{shortened(part)}
                        : fmt::format("{}/{}", path, shortened(part));
}

std::string join_path(std::string_view path, std::size_t index) {
    return join_path(path, fmt::to_string(index));
}

void report(std::vector<Problem>& problems, std::string path, std::string message) {
    if (problems.size() < problems_max) {
        problems.push_back({.path = std::move(path), .message = std::move(message)});
    }
}

std::optional<std::uint64_t> as_count(const Value& value) {
    if (value.is_uint()) {
        return value.as_uint();
    }
    if (value.is_int() && value.as_int() >= 0) {
        return static_cast<std::uint64_t>(value.as_int());
    }
    return std::nullopt;
}

std::optional<Nanos> as_duration(const Value& value) {
    constexpr auto seconds_max = Nanos::max().count() / 1'000'000'000;
    auto duration = Nanos{-1};
    if (value.is_duration()) {
        duration = value.as_duration();
    } else if (value.is_string()) {
        if (auto parsed = value::parse_duration(value.as_string())) {
            duration = *parsed;
        }
    } else if (auto seconds = as_count(value)) {
        if (*seconds <= static_cast<std::uint64_t>(seconds_max)) {
            duration = std::chrono::seconds{static_cast<std::int64_t>(*seconds)};
        }
    } else if (value.is_double() && value.as_double() >= 0 &&
               value.as_double() <= static_cast<double>(seconds_max - 1)) {
        duration = Nanos{std::llround(value.as_double() * 1e9)};
    }
    return duration < Nanos{0} ? std::nullopt : std::optional{duration};
}

std::optional<std::string> read_expression(const Value& form, const std::string& path,
                                           std::vector<Problem>& problems) {
    if (!form.is_string() || form.size() == 0) {
        report(problems, path, fmt::format("found {}, expected an expression", describe(form)));
        return std::nullopt;
    }
    if (form.size() > expression_bytes_max) {
        report(problems, path,
               fmt::format("found an expression of {} bytes, expected at most {}", form.size(),
                           expression_bytes_max));
        return std::nullopt;
    }
    return std::string{form.as_string()};
}

FormReader::FormReader(const Value& form, std::string path, std::vector<Problem>& problems,
                       std::initializer_list<std::string_view> known,
                       std::span<const std::string> extra)
    : form_(form), path_(std::move(path)), problems_(problems) {
    if (!form.is_map()) {
        trigger::report(problems_, path_, fmt::format("found {}, expected a map", describe(form)));
        return;
    }
    auto names = std::vector<std::string_view>(known);
    names.insert(names.end(), extra.begin(), extra.end());
    for (const auto& member : form.as_map()) {
        if (problems_.size() >= problems_max) {
            return;
        }
        if (std::ranges::find(names, member.key) == names.end()) {
            report(member.key, unknown_member(member.key, names));
        }
    }
}

const Value* FormReader::find(std::string_view name) const {
    const auto* member = form_.find(name);
    return member == nullptr || member->is_null() ? nullptr : member;
}

void FormReader::report(std::string_view name, std::string message) const {
    trigger::report(problems_, path_of(name), std::move(message));
}

void FormReader::expect(std::string_view name, std::string_view expected) const {
    const auto* member = find(name);
    report(name, fmt::format("found {}, expected {}",
                             describe(member == nullptr ? Value{} : *member), expected));
}

std::optional<bool> FormReader::boolean(std::string_view name) const {
    const auto* member = find(name);
    if (member == nullptr) {
        return std::nullopt;
    }
    if (!member->is_bool()) {
        expect(name, "true or false");
        return std::nullopt;
    }
    return member->as_bool();
}

std::optional<std::uint64_t> FormReader::count(std::string_view name, std::uint64_t min,
                                               std::uint64_t max) const {
    const auto* member = find(name);
    if (member == nullptr) {
        return std::nullopt;
    }
    auto count = as_count(*member);
    if (!count || *count < min || *count > max) {
        expect(name, max > INT64_MAX ? fmt::format("an integer of at least {}", min)
                                     : fmt::format("an integer from {} to {}", min, max));
        return std::nullopt;
    }
    return count;
}

std::optional<double> FormReader::number(std::string_view name) const {
    const auto* member = find(name);
    if (member == nullptr) {
        return std::nullopt;
    }
    switch (member->kind()) {
        case value::Kind::Int: return static_cast<double>(member->as_int());
        case value::Kind::Uint: return static_cast<double>(member->as_uint());
        case value::Kind::Double: return member->as_double();
        default: expect(name, "a number"); return std::nullopt;
    }
}

std::optional<Nanos> FormReader::duration(std::string_view name) const {
    const auto* member = find(name);
    if (member == nullptr) {
        return std::nullopt;
    }
    auto duration = as_duration(*member);
    if (!duration) {
        expect(name, "a duration such as \"30s\" or \"1h30m\", or a number of seconds");
    }
    return duration;
}

std::optional<std::string> FormReader::text(std::string_view name) const {
    const auto* member = find(name);
    if (member == nullptr) {
        return std::nullopt;
    }
    if (!member->is_string()) {
        expect(name, "a text");
        return std::nullopt;
    }
    return std::string{member->as_string()};
}

std::optional<std::string> FormReader::expression(std::string_view name) const {
    const auto* member = find(name);
    if (member == nullptr) {
        return std::nullopt;
    }
    return read_expression(*member, path_of(name), problems_);
}

Value FormReader::map(std::string_view name) const {
    const auto* member = find(name);
    if (member == nullptr) {
        return {};
    }
    if (!member->is_map()) {
        expect(name, "a map");
        return {};
    }
    return *member;
}

} // namespace sluice::trigger
