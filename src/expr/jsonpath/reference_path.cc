#include "expr/jsonpath/reference_path.h"

#include <utility>

#include <fmt/format.h>

#include "base/result.h"
#include "expr/jsonpath/internal/jayway_parser.h"
#include "expr/jsonpath/internal/query.h"

namespace sluice::expr::jsonpath {
namespace {

using internal::Cursor;

constexpr std::size_t steps_max = 256;

const Value* item_of(const Value& list, std::int64_t index) {
    auto size = static_cast<std::int64_t>(list.size());
    auto at = index < 0 ? index + size : index;
    return list.is_list() && at >= 0 && at < size ? &list.as_list()[static_cast<std::size_t>(at)]
                                                  : nullptr;
}

Value with_item(const Value& list, std::int64_t index, Value value) {
    auto items = std::vector<Value>(list.as_list().begin(), list.as_list().end());
    auto at = index < 0 ? index + static_cast<std::int64_t>(items.size()) : index;
    items[static_cast<std::size_t>(at)] = std::move(value);
    return Value::list(std::move(items));
}

} // namespace

ReferencePath::ReferencePath(std::string_view text, std::vector<Step> steps)
    : text_{text}, steps_{std::move(steps)} {}

std::expected<ReferencePath, Fault> ReferencePath::compile(std::string_view text) {
    auto query = TRY(internal::parse_jayway(text));
    if (!query.is_definite || query.tail) {
        return Cursor::fault_at(
            0,
            "a reference path names one place: expected names and indices alone, without "
            "@ , : ? * .. and functions");
    }
    if (query.segments.size() > steps_max) {
        return Cursor::fault_at(0, "a reference path has at most {} steps", steps_max);
    }
    auto steps = std::vector<Step>{};
    for (auto& segment : query.segments) {
        auto& selector = segment.selectors.front();
        if (auto* name = std::get_if<internal::Name>(&selector)) {
            steps.emplace_back(std::move(name->text));
        } else {
            steps.emplace_back(std::get<internal::Index>(selector).at);
        }
    }
    return ReferencePath{text, std::move(steps)};
}

std::expected<Value, Fault> ReferencePath::read(const Value& root) const {
    const auto* found = &root;
    for (const auto& step : steps_) {
        const auto* name = std::get_if<std::string>(&step);
        found =
            name != nullptr ? found->find(*name) : item_of(*found, std::get<std::int64_t>(step));
        if (found == nullptr) {
            return std::unexpected(
                Fault{"no_such_member", fmt::format("nothing is found at {}", text_), 0});
        }
    }
    return *found;
}

std::string ReferencePath::text_to(std::size_t step) const {
    auto out = std::string{"$"};
    for (auto at = std::size_t{0}; at < step; ++at) {
        const auto* name = std::get_if<std::string>(&steps_[at]);
        out += name != nullptr ? fmt::format("['{}']", *name)
                               : fmt::format("[{}]", std::get<std::int64_t>(steps_[at]));
    }
    return out;
}

/// What is at a step now: null where a member is still to be made.
std::expected<Value, Fault> ReferencePath::enter(const Value& parent, std::size_t step,
                                                 bool is_new) const {
    if (const auto* name = std::get_if<std::string>(&steps_[step])) {
        if (!parent.is_map() && !is_new) {
            return std::unexpected(Fault{
                "no_container",
                fmt::format("{} is no object: {} cannot be written", text_to(step), text_), 0});
        }
        const auto* found = parent.find(*name);
        return found != nullptr ? *found : Value{};
    }
    const auto* found = item_of(parent, std::get<std::int64_t>(steps_[step]));
    if (found == nullptr) {
        return std::unexpected(Fault{
            "no_container",
            fmt::format("{} does not exist: {} cannot be written", text_to(step + 1), text_), 0});
    }
    return *found;
}

std::expected<Value, Fault> ReferencePath::write(const Value& root, Value value) const {
    auto parents = std::vector<Value>{};
    auto current = root;
    auto is_new = false;
    for (auto step = std::size_t{0}; step < steps_.size(); ++step) {
        auto next = TRY(enter(current, step, is_new));
        const auto* name = std::get_if<std::string>(&steps_[step]);
        is_new = name != nullptr && (is_new || current.find(*name) == nullptr);
        parents.push_back(std::move(current));
        current = std::move(next);
    }
    for (auto step = steps_.size(); step-- > 0;) {
        const auto* name = std::get_if<std::string>(&steps_[step]);
        value = name != nullptr ? parents[step].with(*name, std::move(value))
                                : with_item(parents[step], std::get<std::int64_t>(steps_[step]),
                                            std::move(value));
    }
    return value;
}

} // namespace sluice::expr::jsonpath
