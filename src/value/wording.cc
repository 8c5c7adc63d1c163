#include "value/wording.h"

#include <utility>

#include <fmt/format.h>

#include "value/json.h"

namespace sluice::value {

namespace {

/// What a command wrote can be long; all of it is in the run's history.
constexpr auto detail_bytes_max = std::size_t{4'000};

std::string cut(const std::string& text, std::size_t bytes_max) {
    if (text.size() <= bytes_max) {
        return text;
    }
    auto end = bytes_max;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
        --end;
    }
    return text.substr(0, end) + "…";
}

} // namespace

std::string brief(const Value& value, std::size_t bytes_max) {
    return cut(value::to_json(value), bytes_max);
}

std::string text_at(const Value& map, std::string_view key) {
    const auto* found = map.find(key);
    if (found == nullptr || found->is_null()) {
        return {};
    }
    return found->is_string() ? std::string{found->as_string()} : value::to_json(*found);
}

std::string describe_error(const Value& error) {
    if (!error.is_map()) {
        return value::to_json(error);
    }
    auto text = text_at(error, "kind");
    auto message = text_at(error, "message");
    if (!message.empty()) {
        text += text.empty() ? message : ": " + message;
    }
    for (const auto& [key, member] : error.as_map()) {
        if (key != "kind" && key != "message") {
            text += fmt::format("\n  {}: {}", key, cut(text_at(error, key), detail_bytes_max));
        }
    }
    return text;
}

Value texts(const std::vector<std::string>& lines) {
    return Value::list(std::vector<Value>(lines.begin(), lines.end()));
}

} // namespace sluice::value
