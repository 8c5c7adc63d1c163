#include "workflow/asl/internal/payload_check.h"

#include <functional>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace sluice::workflow::asl::internal {

namespace {

using expr::states::Language;

bool looks_like_path(std::string_view text) {
    return text.starts_with("$.") || text.starts_with("$$.") || text.starts_with("$[");
}

bool looks_computed(std::string_view text) {
    return looks_like_path(text) || text == "$" || text == "$$" ||
           (text.starts_with("States.") && text.ends_with(')'));
}

/// Every member of the maps in a payload, at any depth. Without recursion: payloads may be deep.
void each_member(
    const Value& payload, const std::string& pointer,
    const std::function<void(std::string_view, const Value&, const std::string&)>& take) {
    auto open = std::vector<std::pair<const Value*, std::string>>{{&payload, pointer}};
    while (!open.empty()) {
        auto [value, place] = std::move(open.back());
        open.pop_back();
        if (value->is_list()) {
            auto index = std::size_t{0};
            for (const auto& item : value->as_list()) {
                open.emplace_back(&item, join(place, index++));
            }
        } else if (value->is_map()) {
            for (const auto& [key, member] : value->as_map()) {
                take(key, member, place);
                open.emplace_back(&member, join(place, key));
            }
        }
    }
}

} // namespace

bool check_payload(const Value& payload, const std::string& pointer,
                   const expr::states::TemplateSite& site, Report& report) {
    auto count = report.size();
    each_member(payload, pointer, [&](auto key, const Value& member, const std::string& place) {
        if (site.language == Language::Jsonata && key.ends_with(".$")) {
            report.add(join(place, key),
                       fmt::format("The field '{}' is not supported: a state in JSONata has no "
                                   "fields that end in '.$'; write the value as an expression "
                                   "{{% … %}}",
                                   key));
        }
        if (site.language == Language::JsonPath && !key.ends_with(".$") && member.is_string() &&
            looks_computed(member.as_string())) {
            report.warn(join(place, key),
                        fmt::format("The value of '{}' looks like a path or an intrinsic function "
                                    "but is taken as it stands; '{}.$' would compute it",
                                    key, key),
                        code::no_dollar);
        }
    });
    return report.size() == count;
}

void warn_of_static_result(const Value& result, const std::string& pointer, Report& report) {
    each_member(result, pointer, [&](auto key, const Value& member, const std::string& place) {
        if (key.ends_with(".$") || (member.is_string() && looks_like_path(member.as_string()))) {
            report.warn(join(place, key),
                        fmt::format("'{}' is a part of 'Result', which is taken as it stands; "
                                    "'Parameters' would compute it",
                                    key),
                        code::static_result);
        }
    });
}

void warn_of_path(std::string_view text, std::string_view name, const std::string& pointer,
                  Report& report) {
    if (looks_like_path(text)) {
        report.warn(pointer,
                    fmt::format("The value of '{}' looks like a path but is taken as it stands; "
                                "'{}Path' would read it",
                                name, name),
                    code::no_path);
    }
}

} // namespace sluice::workflow::asl::internal
