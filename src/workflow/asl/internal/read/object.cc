#include "workflow/asl/internal/read/object.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sluice::workflow::asl::internal {

std::string_view kind_of(const Value& value) {
    if (value.is_number()) {
        return "a number";
    }
    switch (value.kind()) {
        case value::Kind::Null: return "null";
        case value::Kind::Bool: return "a boolean";
        case value::Kind::List: return "an array";
        case value::Kind::Map: return "an object";
        default: return "a string";
    }
}

std::string wrong_kind(std::string_view name, std::string_view expected, const Value& found) {
    return fmt::format("The field '{}' must be {} but is {}", name, expected, kind_of(found));
}

std::optional<std::int64_t> whole_of(const Value& value) {
    if (value.is_int()) {
        return value.as_int();
    }
    constexpr auto exact_max = 9'007'199'254'740'992.0;
    if (value.is_double() && std::trunc(value.as_double()) == value.as_double() &&
        std::abs(value.as_double()) <= exact_max) {
        return static_cast<std::int64_t>(value.as_double());
    }
    return std::nullopt;
}

void Object::refuse(std::string_view name, std::string message, std::string_view code) const {
    report_->add(at(name), std::move(message), code);
}

void Object::refuse_all(std::string message, std::string_view code) const {
    report_->add(pointer_, std::move(message), code);
}

bool Object::require(Names names) const {
    auto missing = std::vector<std::string_view>{};
    std::ranges::copy_if(names, std::back_inserter(missing), [&](auto name) { return !has(name); });
    if (!missing.empty()) {
        refuse_all(fmt::format("These fields are required: [{}]", fmt::join(missing, ", ")));
    }
    return missing.empty();
}

void Object::allow_only(std::span<const std::string_view> names) const {
    for (const auto& [key, member] : form_->as_map()) {
        if (std::ranges::find(names, key) == names.end()) {
            refuse(key, fmt::format("The field '{}' is not known here; expected are [{}]", key,
                                    fmt::join(names, ", ")));
        }
    }
}

bool Object::allow_one_of(Names names) const {
    auto given = std::vector<std::string_view>{};
    std::ranges::copy_if(names, std::back_inserter(given), [&](auto name) { return has(name); });
    if (given.size() > 1) {
        refuse_all(
            fmt::format("Only one of these fields may be given: [{}]", fmt::join(given, ", ")));
    }
    return given.size() <= 1;
}

std::optional<std::string_view> Object::text(std::string_view name) const {
    const auto* value = find(name);
    if (value == nullptr) {
        return std::nullopt;
    }
    if (!value->is_string()) {
        refuse(name, wrong_kind(name, "a string", *value));
        return std::nullopt;
    }
    return value->as_string();
}

std::optional<bool> Object::flag(std::string_view name) const {
    const auto* value = find(name);
    if (value == nullptr) {
        return std::nullopt;
    }
    if (!value->is_bool()) {
        refuse(name, wrong_kind(name, "true or false", *value));
        return std::nullopt;
    }
    return value->as_bool();
}

std::optional<std::int64_t> Object::whole(std::string_view name, WholeRange range) const {
    const auto* value = find(name);
    if (value == nullptr) {
        return std::nullopt;
    }
    auto number = whole_of(*value);
    if (!number || *number < range.min || *number > range.max) {
        refuse(name, fmt::format("The field '{}' must be a whole number from {} to {}", name,
                                 range.min, range.max));
        return std::nullopt;
    }
    return number;
}

std::optional<std::string_view> Object::word(std::string_view name, Names words) const {
    auto given = text(name);
    if (given && std::ranges::find(words, *given) == words.end()) {
        refuse(name, fmt::format("The field '{}' must be one of [{}] but is '{}'", name,
                                 fmt::join(words, ", "), *given));
        return std::nullopt;
    }
    return given;
}

std::optional<std::span<const Value>> Object::list(std::string_view name) const {
    const auto* value = find(name);
    if (value == nullptr) {
        return std::nullopt;
    }
    if (!value->is_list()) {
        refuse(name, wrong_kind(name, "an array", *value));
        return std::nullopt;
    }
    return value->as_list();
}

std::optional<Object> Object::object(std::string_view name) const {
    const auto* value = find(name);
    if (value == nullptr) {
        return std::nullopt;
    }
    if (!value->is_map()) {
        refuse(name, wrong_kind(name, "an object", *value));
        return std::nullopt;
    }
    return Object{*value, at(name), *report_};
}

std::optional<Object> Object::item_of(std::string_view name, std::size_t index,
                                      const Value& item) const {
    auto place = join(at(name), index);
    if (!item.is_map()) {
        report_->add(
            place, fmt::format("An item of '{}' must be an object but is {}", name, kind_of(item)));
        return std::nullopt;
    }
    return Object{item, std::move(place), *report_};
}

} // namespace sluice::workflow::asl::internal
