#include "workflow/asl/internal/wording.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "expr/states/template.h"
#include "value/json.h"
#include "value/wording.h"
#include "workflow/asl/internal/read/resource.h"

namespace sluice::workflow::asl::internal {

namespace {

using value::text_at;

constexpr auto rule_depth_max = 20;

/// A text as it is, an expression without its marks, and what else there is as JSON.
std::string brief_of(const Value& value) {
    if (!value.is_string()) {
        return value::brief(value);
    }
    auto inside = expr::states::expression_in(value.as_string());
    return std::string{inside.empty() ? value.as_string() : inside};
}

/// The first of these members that is there.
std::string first_of(const Value& state, std::initializer_list<std::string_view> names) {
    for (auto name : names) {
        if (const auto* found = state.find(name)) {
            return brief_of(*found);
        }
    }
    return {};
}

std::string describe_task(const Value& state) {
    auto text = text_at(state, "Resource");
    auto resource = parse_resource(text);
    if (!resource) {
        return value::brief(state.find("Resource") == nullptr ? Value{} : *state.find("Resource"));
    }
    if (!resource->target.empty()) {
        return (resource->service == "activity" ? "activity " : "call ") + resource->target;
    }
    return fmt::format("{}:{}{}", resource->service, resource->action,
                       suffix_of(resource->pattern));
}

std::string describe_wait(const Value& state) {
    auto seconds = first_of(state, {"Seconds", "SecondsPath"});
    return seconds.empty() ? "wait until " + first_of(state, {"Timestamp", "TimestampPath"})
                           : fmt::format("wait {} s", seconds);
}

std::string describe_map(const Value& state) {
    if (state.find("ItemReader") != nullptr) {
        return "for each of what is read";
    }
    auto items = first_of(state, {"Items", "ItemsPath"});
    return "for each of " + (items.empty() ? "$" : items);
}

std::string describe_part(const Value& rule, int depth);

std::string describe_all(const Value& rules, std::string_view word, int depth) {
    auto parts = std::vector<std::string>{};
    if (rules.is_list()) {
        for (const auto& rule : rules.as_list()) {
            parts.push_back(describe_part(rule, depth));
        }
    }
    return fmt::format("({})", fmt::join(parts, word));
}

std::string describe_part(const Value& rule, int depth) {
    if (depth == 0 || !rule.is_map()) {
        return "…";
    }
    if (const auto* condition = rule.find("Condition")) {
        return brief_of(*condition);
    }
    if (const auto* inner = rule.find("Not")) {
        return "not " + describe_part(*inner, depth - 1);
    }
    if (const auto* all = rule.find("And")) {
        return describe_all(*all, " and ", depth - 1);
    }
    if (const auto* some = rule.find("Or")) {
        return describe_all(*some, " or ", depth - 1);
    }
    constexpr auto others =
        std::to_array<std::string_view>({"Variable", "Next", "Assign", "Output", "Comment"});
    for (const auto& [key, operand] : rule.as_map()) {
        if (std::ranges::find(others, key) == others.end()) {
            return fmt::format("{} {} {}", text_at(rule, "Variable"), key, value::to_json(operand));
        }
    }
    return {};
}

} // namespace

std::string describe_state(const Value& state) {
    auto type = text_at(state, "Type");
    if (type == "Task") {
        return describe_task(state);
    }
    if (type == "Wait") {
        return describe_wait(state);
    }
    if (type == "Map") {
        return describe_map(state);
    }
    if (type == "Fail") {
        auto error = first_of(state, {"Error", "ErrorPath"});
        return error.empty() ? "fail" : "fail: " + error;
    }
    std::ranges::transform(type, type.begin(), [](char letter) {
        return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    });
    return type;
}

std::string describe_rule(const Value& rule) {
    constexpr auto bytes_max = std::size_t{200};
    auto text = describe_part(rule, rule_depth_max);
    return text.size() > bytes_max ? value::brief(Value{text}, bytes_max) : text;
}

} // namespace sluice::workflow::asl::internal
