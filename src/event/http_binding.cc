#include "event/http_binding.h"

#include <algorithm>

#include "event/internal/binary_mode.h"

namespace sluice::event {

namespace {

using internal::lower;
using internal::lowered;
using internal::media_type;

constexpr std::string_view attribute_prefix = "ce-";

const HttpField* find(std::span<const HttpField> fields, std::string_view name) {
    auto found = std::ranges::find_if(
        fields, [&](const auto& each) { return std::ranges::equal(each.first, name, {}, lower); });
    return found == fields.end() ? nullptr : &*found;
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

Result<Event> read_binary(Codec& codec, std::span<const HttpField> fields,
                          std::string_view content_type, std::string_view body) {
    auto decoded = std::vector<std::pair<std::string, std::string>>{};
    for (const auto& [field, raw] : fields) {
        auto name = lowered(field);
        if (name.starts_with(attribute_prefix)) {
            name.erase(0, attribute_prefix.size());
            decoded.emplace_back(std::move(name), decode_field(raw));
        }
    }
    auto attributes = std::vector<std::pair<std::string_view, std::string_view>>{};
    for (const auto& [name, text] : decoded) {
        attributes.emplace_back(name, text);
    }
    auto json = std::string{};
    TRY(internal::append_binary(
        {.content_type = content_type, .attributes = attributes, .body = body}, json));
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
        auto event = TRY(codec.parse(body));
        events.push_back(std::move(event));
    } else if (find(fields, "ce-specversion") != nullptr) {
        auto event = TRY(
            read_binary(codec, fields,
                        content_type == nullptr ? std::string_view{} : content_type->second, body));
        events.push_back(std::move(event));
    } else {
        return fail(Errc::Unsupported,
                    "this is no CloudEvent: send application/cloudevents+json, or the header "
                    "ce-specversion with the other attributes");
    }
    return events;
}

HttpEvent to_http(const Event& event) {
    auto binary = to_binary(event);
    auto made = HttpEvent{.fields = {}, .body = std::move(binary.body)};
    if (!binary.content_type.empty()) {
        made.fields.emplace_back("Content-Type", std::move(binary.content_type));
    }
    for (const auto& [name, text] : binary.attributes) {
        made.fields.emplace_back(std::string{attribute_prefix} + name, encode_field(text));
    }
    return made;
}

} // namespace sluice::event
