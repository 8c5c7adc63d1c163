#include "server/stepfunctions/parameters.h"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "base/base64.h"
#include "base/utf8.h"
#include "value/json.h"

namespace sluice::server::stepfunctions {

namespace {

constexpr auto page_default = std::size_t{100};
constexpr auto page_max = std::int64_t{1'000};
constexpr auto shown_bytes_max = std::size_t{200};

bool is_of_kind(const Value& value, Parameter::Kind kind) {
    switch (kind) {
        case Parameter::Kind::Text: return value.is_string();
        case Parameter::Kind::Flag: return value.is_bool();
        case Parameter::Kind::Number: return value.is_number();
        case Parameter::Kind::List: return value.is_list();
        case Parameter::Kind::Map: return value.is_map();
    }
    return false;
}

std::string_view name_of(Parameter::Kind kind) {
    switch (kind) {
        case Parameter::Kind::Text: return "a string";
        case Parameter::Kind::Flag: return "true or false";
        case Parameter::Kind::Number: return "a number";
        case Parameter::Kind::List: return "a list";
        case Parameter::Kind::Map: return "an object";
    }
    return "";
}

double amount_of(const Value& value) {
    if (value.is_int()) {
        return static_cast<double>(value.as_int());
    }
    if (value.is_uint()) {
        return static_cast<double>(value.as_uint());
    }
    if (value.is_double()) {
        return value.as_double();
    }
    if (value.is_string()) {
        return static_cast<double>(std::ranges::count_if(
            value.as_string(), [](unsigned char byte) { return (byte & 0xC0U) != 0x80U; }));
    }
    return static_cast<double>(value.size());
}

/// What is wrong with a member that is there; empty: nothing.
std::string fault_in(const Value& value, const Parameter& parameter) {
    if (!parameter.choices.empty() &&
        std::ranges::find(parameter.choices, value.as_string()) == parameter.choices.end()) {
        return fmt::format("Member must satisfy enum value set: [{}]",
                           fmt::join(parameter.choices, ", "));
    }
    auto what = parameter.kind == Parameter::Kind::Number ? "value" : "length";
    if (amount_of(value) < static_cast<double>(parameter.least)) {
        return fmt::format("Member must have {} greater than or equal to {}", what,
                           parameter.least);
    }
    if (amount_of(value) > static_cast<double>(parameter.most)) {
        return fmt::format("Member must have {} less than or equal to {}", what, parameter.most);
    }
    return "";
}

std::string shown(const Value& value) {
    auto text = value.is_string() ? std::string{value.as_string()} : value::to_json(value);
    return text.size() <= shown_bytes_max
               ? text
               : replace_invalid_utf8(text.substr(0, shown_bytes_max)) + "…";
}

} // namespace

std::expected<void, Fault> check_parameters(const Value& body, std::span<const Parameter> known) {
    auto faults = std::vector<std::string>{};
    for (const auto& parameter : known) {
        const auto* value = body.find(parameter.name);
        if (value == nullptr || value->is_null()) {
            if (parameter.need == Parameter::Need::Required) {
                faults.push_back(
                    fmt::format("Value null at '{}' failed to satisfy constraint: "
                                "Member must not be null",
                                parameter.name));
            }
            continue;
        }
        if (!is_of_kind(*value, parameter.kind)) {
            return refuse("SerializationException", "{}: expected {}", parameter.name,
                          name_of(parameter.kind));
        }
        if (auto fault = fault_in(*value, parameter); !fault.empty()) {
            faults.push_back(fmt::format("Value '{}' at '{}' failed to satisfy constraint: {}",
                                         shown(*value), parameter.name, fault));
        }
    }
    if (faults.empty()) {
        return {};
    }
    return refuse("ValidationException", "{} validation error{} detected: {}", faults.size(),
                  faults.size() == 1 ? "" : "s", fmt::join(faults, "; "));
}

std::string text_in(const Value& body, std::string_view name) {
    return text_if(body, name).value_or("");
}

std::optional<std::string> text_if(const Value& body, std::string_view name) {
    const auto* found = body.find(name);
    return found != nullptr && found->is_string() ? std::optional{std::string{found->as_string()}}
                                                  : std::nullopt;
}

bool flag_in(const Value& body, std::string_view name, bool otherwise) {
    const auto* found = body.find(name);
    return found != nullptr && found->is_bool() ? found->as_bool() : otherwise;
}

std::optional<std::int64_t> number_in(const Value& body, std::string_view name) {
    const auto* found = body.find(name);
    if (found == nullptr || !found->is_number() || std::abs(amount_of(*found)) > 1e15) {
        return std::nullopt;
    }
    return static_cast<std::int64_t>(amount_of(*found));
}

Value value_in(const Value& body, std::string_view name) {
    const auto* found = body.find(name);
    return found == nullptr ? Value{} : *found;
}

std::expected<Page, Fault> Page::read(const Value& body, std::string_view list) {
    auto page = Page{.after = {}};
    auto most = number_in(body, "maxResults").value_or(0);
    page.most = most <= 0 ? page_default : static_cast<std::size_t>(std::min(most, page_max));
    if (auto token = text_if(body, "nextToken")) {
        auto read = base64_decode(*token);
        auto begin = fmt::format("{}:", list);
        if (!read || !read->starts_with(begin)) {
            return refuse("InvalidToken", "Invalid Token: 'Invalid token'");
        }
        page.after = read->substr(begin.size());
    }
    return page;
}

std::string page_token(std::string_view list, std::string_view after) {
    return base64_encode(fmt::format("{}:{}", list, after));
}

Value seconds_of(Time time) {
    auto millis = std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch()).count();
    return Value{static_cast<double>(millis) / 1000.0};
}

} // namespace sluice::server::stepfunctions
