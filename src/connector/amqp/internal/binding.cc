#include "connector/amqp/internal/binding.h"

#include <limits>

#include <fmt/format.h>

#include "base/base64.h"
#include "connector/amqp/internal/attribute.h"
#include "connector/amqp/internal/bytes.h"

namespace sluice::connector::amqp::internal {

namespace {

constexpr std::string_view offset_header = "x-stream-offset";
// A short string of AMQP.
constexpr auto key_bytes_max = std::size_t{255};

/// As CloudEvents writes values of its types; nothing for other types.
std::optional<std::string> canonical_text(const amqp_field_value_t& field) {
    const auto& value = field.value;
    switch (field.kind) {
        case AMQP_FIELD_KIND_BOOLEAN: return value.boolean != 0 ? "true" : "false";
        case AMQP_FIELD_KIND_I8: return fmt::format("{}", static_cast<int>(value.i8));
        case AMQP_FIELD_KIND_U8: return fmt::format("{}", static_cast<unsigned>(value.u8));
        case AMQP_FIELD_KIND_I16: return fmt::format("{}", value.i16);
        case AMQP_FIELD_KIND_U16: return fmt::format("{}", value.u16);
        case AMQP_FIELD_KIND_I32: return fmt::format("{}", value.i32);
        case AMQP_FIELD_KIND_U32: return fmt::format("{}", value.u32);
        case AMQP_FIELD_KIND_I64: return fmt::format("{}", value.i64);
        case AMQP_FIELD_KIND_U64: return fmt::format("{}", value.u64);
        case AMQP_FIELD_KIND_TIMESTAMP: return time_text_of_seconds(value.u64);
        case AMQP_FIELD_KIND_BYTES: return base64_encode(view_of(value.bytes));
        default: return std::nullopt;
    }
}

std::optional<std::uint64_t> as_offset(const amqp_field_value_t& field) {
    auto number = std::int64_t{-1};
    switch (field.kind) {
        case AMQP_FIELD_KIND_I64: number = field.value.i64; break;
        case AMQP_FIELD_KIND_I32: number = field.value.i32; break;
        case AMQP_FIELD_KIND_U64:
            number = field.value.u64 > std::uint64_t{std::numeric_limits<std::int64_t>::max()}
                         ? -1
                         : static_cast<std::int64_t>(field.value.u64);
            break;
        default: break;
    }
    return number < 0 ? std::nullopt : std::optional{static_cast<std::uint64_t>(number)};
}

} // namespace

std::optional<std::uint64_t> stream_offset(const amqp_basic_properties_t& properties) {
    if ((properties._flags & AMQP_BASIC_HEADERS_FLAG) == 0) {
        return std::nullopt;
    }
    for (auto at = 0; at < properties.headers.num_entries; ++at) {
        const auto& entry = properties.headers.entries[at];
        if (view_of(entry.key) == offset_header) {
            return as_offset(entry.value);
        }
    }
    return std::nullopt;
}

Result<event::Message> MessageReader::read(const amqp_basic_properties_t& properties,
                                           std::string_view body) {
    auto message = event::Message{.body = body};
    if ((properties._flags & AMQP_BASIC_CONTENT_TYPE_FLAG) != 0) {
        message.content_type = view_of(properties.content_type);
    }
    if ((properties._flags & AMQP_BASIC_HEADERS_FLAG) == 0 || message.content_type == event_type) {
        return message;
    }
    attributes_.clear();
    texts_.clear();
    for (auto at = 0; at < properties.headers.num_entries; ++at) {
        const auto& [key, value] = properties.headers.entries[at];
        auto name = attribute_of(view_of(key));
        if (name.empty() || value.kind == AMQP_FIELD_KIND_VOID) {
            continue;
        }
        if (value.kind == AMQP_FIELD_KIND_UTF8) {
            attributes_.emplace_back(name, view_of(value.value.bytes));
            continue;
        }
        auto text = canonical_text(value);
        if (!text) {
            return fail(Errc::InvalidInput,
                        "header {}: expected a text, an integer, a truth value, bytes or a time up "
                        "to the year 2255, not AMQP's type {}",
                        view_of(key), static_cast<int>(value.kind));
        }
        attributes_.emplace_back(name, texts_.emplace_back(*std::move(text)));
    }
    message.attributes = attributes_;
    return message;
}

amqp_basic_properties_t MessageWriter::structured(std::string_view key) {
    auto properties = amqp_basic_properties_t{};
    properties._flags = AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_CONTENT_TYPE_FLAG;
    properties.delivery_mode = AMQP_DELIVERY_PERSISTENT;
    properties.content_type = bytes_of(event_type);
    if (!key.empty() && key.size() <= key_bytes_max) {
        properties._flags |= AMQP_BASIC_MESSAGE_ID_FLAG;
        properties.message_id = bytes_of(key);
    }
    return properties;
}

amqp_basic_properties_t MessageWriter::binary(std::string_view key,
                                              const event::BinaryMessage& message) {
    auto properties = structured(key);
    properties.content_type = bytes_of(message.content_type);
    if (message.content_type.empty()) {
        properties._flags &= ~static_cast<amqp_flags_t>(AMQP_BASIC_CONTENT_TYPE_FLAG);
    }
    headers_.clear();
    names_.clear();
    for (const auto& [name, value] : message.attributes) {
        headers_.text(names_.emplace_back(fmt::format("{}:{}", attribute_prefix, name)), value);
    }
    properties._flags |= AMQP_BASIC_HEADERS_FLAG;
    properties.headers = headers_.view();
    return properties;
}

} // namespace sluice::connector::amqp::internal
