#include "event/internal/binary_mode.h"

#include <algorithm>

#include <simdjson.h>

#include "base/base64.h"
#include "event/internal/attribute_rules.h"
#include "event/internal/scanner.h"
#include "value/json.h"

namespace sluice::event {

namespace internal {

namespace {

bool is_json_type(std::string_view type) {
    return type.empty() || type.ends_with("/json") || type.ends_with("+json");
}

bool is_text_type(std::string_view type) {
    return type.starts_with("text/") || type.ends_with("/xml") || type.ends_with("+xml");
}

bool is_json(std::string_view text) {
    auto scanner = Scanner{text};
    scanner.skip_space();
    return scanner.skip_value(depth_max_hard) && scanner.is_at_end();
}

void append_data(std::string& json, std::string_view type, std::string_view body) {
    if (is_json_type(type) && is_json(body)) {
        json += R"(,"data":)";
        json += body;
    } else if (is_text_type(type) && simdjson::validate_utf8(body.data(), body.size())) {
        json += R"(,"data":)";
        value::write_json_string(body, json);
    } else {
        json += R"(,"data_base64":")";
        base64_encode(body, json);
        json += '"';
    }
}

} // namespace

char lower(char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + ('a' - 'A')) : letter;
}

std::string lowered(std::string_view text) {
    auto copy = std::string{text};
    std::ranges::transform(copy, copy.begin(), lower);
    return copy;
}

std::string media_type(std::string_view content_type) {
    auto type = lowered(content_type.substr(0, content_type.find(';')));
    while (!type.empty() && (type.back() == ' ' || type.back() == '\t')) {
        type.pop_back();
    }
    return type;
}

Result<void> append_binary(const Message& message, std::string& json) {
    auto begin = json.size();
    json += '{';
    auto append = [&](std::string_view name, std::string_view text) {
        json += json.size() > begin + 1 ? R"(,")" : R"(")";
        json += name;
        json += R"(":)";
        value::write_json_string(text, json);
    };
    for (const auto& [name, text] : message.attributes) {
        if (name == "datacontenttype" || name == "data" || !is_attribute_name(name)) {
            return fail(Errc::InvalidInput, "attribute \"{}\": {}", name,
                        name == "datacontenttype"
                            ? "give the message a content type instead"
                            : "an attribute's name is of a-z and 0-9, and not data");
        }
        if (!is_attribute_text(text)) {
            return fail(Errc::InvalidInput,
                        "attribute {}: expected UTF-8 without control characters", name);
        }
        append(name, text);
    }
    if (!message.content_type.empty()) {
        if (!is_attribute_text(message.content_type)) {
            return fail(Errc::InvalidInput, "content type: expected a media type");
        }
        append("datacontenttype", message.content_type);
    }
    if (!message.body.empty()) {
        append_data(json, media_type(message.content_type), message.body);
    }
    json += '}';
    return {};
}

} // namespace internal

BinaryMessage to_binary(const Event& event) {
    auto made = BinaryMessage{};
    for (const auto& [name, value] : event.attributes()) {
        auto text = value.is_string() ? std::string{value.as_string()} : value::to_json(value);
        if (name == "datacontenttype") {
            made.content_type = std::move(text);
        } else {
            made.attributes.emplace_back(name, std::move(text));
        }
    }
    if (!event.has_data()) {
        return made;
    }
    auto data = event.data();
    if (data.is_bytes()) {
        made.body = data.as_bytes();
        return made;
    }
    auto is_text = !internal::is_json_type(internal::media_type(made.content_type));
    if (made.content_type.empty()) {
        made.content_type = "application/json";
    }
    made.body = is_text && data.is_string() ? std::string{data.as_string()} : value::to_json(data);
    return made;
}

} // namespace sluice::event
