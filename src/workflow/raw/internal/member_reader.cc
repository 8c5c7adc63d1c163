#include "workflow/raw/internal/member_reader.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "value/json.h"
#include "value/time_text.h"

namespace sluice::workflow::raw::internal {

namespace {

constexpr auto shown_bytes_max = std::size_t{60};
constexpr auto count_max = std::int64_t{1'000'000};
constexpr auto seconds_max = 1e9;

} // namespace

MemberReader::MemberReader(const Value& form, std::string path,
                           std::initializer_list<std::string_view> known, Problems& problems)
    : form_(form), path_(std::move(path)), problems_(problems) {
    if (!form.is_map()) {
        problems_.push_back({path_, fmt::format("found {}, expected a map", describe(form))});
        return;
    }
    for (const auto& member : form.as_map()) {
        if (std::ranges::find(known, member.key) == known.end()) {
            report(member.key,
                   fmt::format("unknown member, expected one of {}", fmt::join(known, ", ")));
        }
    }
}

const Value* MemberReader::find(std::string_view name) const {
    const auto* member = form_.find(name);
    return member == nullptr || member->is_null() ? nullptr : member;
}

std::string MemberReader::path_of(std::string_view name) const {
    return name.empty() ? path_ : fmt::format("{}/{}", path_, name);
}

void MemberReader::report(std::string_view name, std::string message) const {
    problems_.push_back({path_of(name), std::move(message)});
}

void MemberReader::expect(std::string_view name, std::string_view expected) const {
    const auto* member = find(name);
    report(name,
           fmt::format("found {}, expected {}", describe(member ? *member : Value{}), expected));
}

std::string MemberReader::text(std::string_view name) const {
    const auto* member = find(name);
    if (member != nullptr && (!member->is_string() || member->size() == 0)) {
        expect(name, "a text");
        return {};
    }
    return member == nullptr ? std::string{} : std::string{member->as_string()};
}

std::uint32_t MemberReader::count(std::string_view name) const {
    const auto* member = find(name);
    if (member == nullptr) {
        return 0;
    }
    if (!member->is_int() || member->as_int() < 1 || member->as_int() > count_max) {
        expect(name, fmt::format("an integer from 1 to {}", count_max));
        return 0;
    }
    return static_cast<std::uint32_t>(member->as_int());
}

Nanos MemberReader::duration(std::string_view name) const {
    const auto* member = find(name);
    if (member == nullptr) {
        return Nanos{0};
    }
    auto found = Nanos{-1};
    if (member->is_string()) {
        found = value::parse_duration(member->as_string()).value_or(found);
    } else if (member->is_int() || member->is_double()) {
        auto seconds =
            member->is_double() ? member->as_double() : static_cast<double>(member->as_int());
        if (seconds >= 0 && seconds <= seconds_max) {
            found = Nanos{static_cast<std::int64_t>(seconds * 1e9)};
        }
    }
    if (found < Nanos{0}) {
        expect(name, "a duration such as \"30s\", or a number of seconds");
    }
    return std::max(found, Nanos{0});
}

void MemberReader::check_number(std::string_view name, double min, double max) const {
    const auto* member = find(name);
    if (member == nullptr) {
        return;
    }
    auto number = member->is_double() ? member->as_double()
                  : member->is_int()  ? static_cast<double>(member->as_int())
                                      : std::nan("");
    if (!(number >= min && number <= max)) {
        expect(name, fmt::format("a number from {} to {}", min, max));
    }
}

std::string describe(const Value& found) {
    switch (found.kind()) {
        case value::Kind::Null: return "nothing";
        case value::Kind::List: return "a list";
        case value::Kind::Map: return "a map";
        case value::Kind::String: break;
        default: return value::to_json(found);
    }
    if (found.size() > shown_bytes_max) {
        return fmt::format("a text of {} bytes", found.size());
    }
    auto text = std::string{"the text "};
    value::write_json_string(found.as_string(), text);
    return text;
}

} // namespace sluice::workflow::raw::internal
