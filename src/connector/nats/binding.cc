#include "connector/nats/binding.h"

#include <algorithm>

#include "connector/nats/internal/escapes.h"
#include "event/codec.h"

namespace sluice::connector::nats {

namespace {

constexpr auto prefix = std::string_view{"ce-"};
constexpr auto content_type_field = std::string_view{"Content-Type"};
constexpr auto data_type_attribute = std::string_view{"datacontenttype"};
constexpr auto structured_type = std::string_view{"application/cloudevents+json"};

char small(char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter | 0x20) : letter;
}

bool is_same(std::string_view left, std::string_view right) {
    return std::ranges::equal(left, right, {}, small, small);
}

} // namespace

event::Message Binding::read(const std::vector<Field>& fields, std::string_view body) {
    decoded_.clear();
    attributes_.clear();
    auto content_type = std::string_view{};
    for (const auto& [name, text] : fields) {
        if (is_same(name, content_type_field)) {
            content_type = text;
        } else if (name.size() > prefix.size() && is_same(name.substr(0, prefix.size()), prefix)) {
            auto attribute = std::string{name.substr(prefix.size())};
            std::ranges::transform(attribute, attribute.begin(), small);
            decoded_.emplace_back(std::move(attribute), internal::unescape(text));
        }
    }
    if (is_same(content_type.substr(0, structured_type.size()), structured_type)) {
        return {.content_type = content_type, .body = body};
    }
    // What a neighbour names in small letters decides before the bare header field.
    for (const auto& [name, text] : decoded_) {
        if (name == data_type_attribute) {
            content_type = text;
        } else {
            attributes_.emplace_back(name, text);
        }
    }
    return {.content_type = content_type, .attributes = attributes_, .body = body};
}

Result<Encoded> encode(Mode mode, std::string json) {
    auto encoded = Encoded{};
    if (mode == Mode::Structured) {
        encoded.body = std::move(json);
        return encoded;
    }
    auto event = TRY(event::Codec{}.parse(json));
    auto binary = event::to_binary(event);
    encoded.body = std::move(binary.body);
    encoded.fields.reserve(binary.attributes.size() + 1);
    for (const auto& [name, text] : binary.attributes) {
        encoded.fields.emplace_back(fmt::format("{}{}", prefix, name), internal::escape(text));
    }
    if (!binary.content_type.empty()) {
        encoded.fields.emplace_back(fmt::format("{}{}", prefix, data_type_attribute),
                                    internal::escape(binary.content_type));
    }
    return encoded;
}

} // namespace sluice::connector::nats
