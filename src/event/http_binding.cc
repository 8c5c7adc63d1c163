#include "event/http_binding.h"

#include <algorithm>

#include <simdjson.h>

#include "base/base64.h"
#include "event/internal/attribute_rules.h"
#include "event/internal/scanner.h"
#include "value/json.h"

namespace sluice::event {

namespace {

constexpr std::string_view attribute_prefix = "ce-";

char lower(char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + ('a' - 'A')) : letter;
}

std::string lowered(std::string_view text) {
    auto copy = std::string{text};
    std::ranges::transform(copy, copy.begin(), lower);
    return copy;
}

const HttpField* find(std::span<const HttpField> fields, std::string_view name) {
    auto found = std::ranges::find_if(
        fields, [&](const auto& each) { return std::ranges::equal(each.first, name, {}, lower); });
    return found == fields.end() ? nullptr : &*found;
}

/// The media type alone, in small letters.
std::string media_type(std::string_view content_type) {
    auto type = lowered(content_type.substr(0, content_type.find(';')));
    while (!type.empty() && (type.back() == ' ' || type.back() == '\t')) {
        type.pop_back();
    }
    return type;
}

bool is_json_type(std::string_view type) {
    return type.empty() || type.ends_with("/json") || type.ends_with("+json");
}

bool is_text_type(std::string_view type) {
    return type.starts_with("text/") || type.ends_with("/xml") || type.ends_with("+xml");
}

int hex_value(char letter) {
    if (letter >= '0' && letter <= '9') {
        return letter - '0';
    }
    auto small = lower(letter);
    return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

/// Quotes and backslashes are undone first, then one round of escapes. A percent sign that begins
/// none stands for itself: some senders do not encode it.
std::string decode_field(std::string_view text) {
    auto plain = std::string{};
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
        text = text.substr(1, text.size() - 2);
        for (auto at = std::size_t{0}; at < text.size(); ++at) {
            at += text[at] == '\\' && at + 1 < text.size() ? 1 : 0;
            plain += text[at];
        }
    } else {
        plain = text;
    }
    auto decoded = std::string{};
    for (auto at = std::size_t{0}; at < plain.size(); ++at) {
        auto has_digits = plain[at] == '%' && at + 2 < plain.size();
        auto high = has_digits ? hex_value(plain[at + 1]) : -1;
        auto low = has_digits ? hex_value(plain[at + 2]) : -1;
        if (high < 0 || low < 0) {
            decoded += plain[at];
        } else {
            decoded += static_cast<char>(high * 16 + low);
            at += 2;
        }
    }
    return decoded;
}

std::string encode_field(std::string_view text) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    auto encoded = std::string{};
    for (auto letter : text) {
        auto byte = static_cast<unsigned char>(letter);
        if (byte > 0x20 && byte < 0x7F && letter != '"' && letter != '%') {
            encoded += letter;
        } else {
            encoded += '%';
            encoded += digits[byte >> 4U];
            encoded += digits[byte & 0xFU];
        }
    }
    return encoded;
}

bool is_json(std::string_view text) {
    auto scanner = internal::Scanner{text};
    scanner.skip_space();
    return scanner.skip_value(internal::depth_max_hard) && scanner.is_at_end();
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

/// As one JSON text, so that the same rules are checked in the same place.
Result<Event> read_binary(Codec& codec, std::span<const HttpField> fields, std::string_view body) {
    auto json = std::string{"{"};
    auto append = [&](std::string_view name, std::string_view text) {
        json += json.size() > 1 ? R"(,")" : R"(")";
        json += name;
        json += R"(":)";
        value::write_json_string(text, json);
    };
    for (const auto& [field, raw] : fields) {
        auto name = lowered(field);
        if (!name.starts_with(attribute_prefix)) {
            continue;
        }
        name.erase(0, attribute_prefix.size());
        if (name == "datacontenttype" || name == "data" || !internal::is_attribute_name(name)) {
            return fail(Errc::InvalidInput, "header {}: {}", field,
                        name == "datacontenttype"
                            ? "write Content-Type instead"
                            : "an attribute's name is of a-z and 0-9, and not data");
        }
        auto text = decode_field(raw);
        if (!internal::is_attribute_text(text)) {
            return fail(Errc::InvalidInput, "header {}: expected UTF-8 without control characters",
                        field);
        }
        append(name, text);
    }
    auto type = std::string{};
    if (const auto* content_type = find(fields, "content-type"); content_type != nullptr) {
        if (!internal::is_attribute_text(content_type->second)) {
            return fail(Errc::InvalidInput, "header Content-Type: expected a media type");
        }
        append("datacontenttype", content_type->second);
        type = media_type(content_type->second);
    }
    if (!body.empty()) {
        append_data(json, type, body);
    }
    json += '}';
    return codec.parse(json);
}

} // namespace

Result<std::vector<Event>> read_http(Codec& codec, std::span<const HttpField> fields,
                                     std::string_view body) {
    const auto* content_type = find(fields, "content-type");
    auto type = content_type == nullptr ? std::string{} : media_type(content_type->second);
    if (type.starts_with("application/cloudevents-batch")) {
        if (type != "application/cloudevents-batch+json") {
            return fail(Errc::Unsupported,
                        "{} is not read here: send application/cloudevents-batch+json", type);
        }
        return codec.parse_batch(body);
    }
    auto events = std::vector<Event>{};
    if (type.starts_with("application/cloudevents")) {
        if (type != "application/cloudevents+json") {
            return fail(Errc::Unsupported, "{} is not read here: send application/cloudevents+json",
                        type);
        }
        events.push_back(TRY(codec.parse(body)));
    } else if (find(fields, "ce-specversion") != nullptr) {
        events.push_back(TRY(read_binary(codec, fields, body)));
    } else {
        return fail(Errc::Unsupported,
                    "this is no CloudEvent: send application/cloudevents+json, or the header "
                    "ce-specversion with the other attributes");
    }
    return events;
}

HttpEvent to_http(const Event& event) {
    auto made = HttpEvent{};
    auto has_type = false;
    for (const auto& [name, value] : event.attributes()) {
        auto text = value.is_string() ? std::string{value.as_string()} : value::to_json(value);
        if (name == "datacontenttype") {
            has_type = true;
            made.fields.emplace_back("Content-Type", text);
        } else {
            made.fields.emplace_back(std::string{attribute_prefix} + std::string{name},
                                     encode_field(text));
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
    if (!has_type) {
        made.fields.emplace_back("Content-Type", "application/json");
    }
    auto type = event.attribute("datacontenttype");
    auto is_text = type && !is_json_type(media_type(type->as_string()));
    made.body = is_text && data.is_string() ? std::string{data.as_string()} : value::to_json(data);
    return made;
}

} // namespace sluice::event
