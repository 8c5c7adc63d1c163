#include "connector/amqp/internal/stream/message_sections.h"

#include "connector/amqp/internal/attribute.h"
#include "connector/amqp/internal/stream/amqp10_value.h"

namespace sluice::connector::amqp::internal::stream {

namespace {

/// Part 3.2: the descriptors of sections.
enum class Section : std::uint64_t {
    Header = 0x70,
    Properties = 0x73,
    ApplicationProperties = 0x74,
    Data = 0x75,
    Sequence = 0x76,
    Value = 0x77,
    Footer = 0x78,
};

constexpr auto small_ulong_code = '\x53';
// Part 3.2.4: behind message-id, user-id, to, subject, reply-to and correlation-id.
constexpr auto content_type_index = 6U;

struct TakenSection {
    Section section{};
    Amqp10Value value;
};

/// Descriptors of sections are small numbers, and nobody writes them in eight bytes.
std::optional<TakenSection> take_section(std::string_view& bytes) {
    if (bytes.size() < 3 || bytes[0] != described_code || bytes[1] != small_ulong_code) {
        return std::nullopt;
    }
    auto section = static_cast<Section>(static_cast<unsigned char>(bytes[2]));
    bytes.remove_prefix(3);
    auto value = take_value(bytes);
    if (section < Section::Header || section > Section::Footer || !value) {
        return std::nullopt;
    }
    return TakenSection{.section = section, .value = *value};
}

/// Empty where there is none, or properties are no list.
std::string_view content_type_in(const Amqp10Value& properties) {
    auto elements = elements_of(properties);
    if (!elements || elements->count <= content_type_index) {
        return {};
    }
    for (auto index = 0U; index < content_type_index; ++index) {
        if (!take_value(elements->bytes)) {
            return {};
        }
    }
    auto value = take_value(elements->bytes);
    return value ? text_in(*value).value_or(std::string_view{}) : std::string_view{};
}

/// A body that is data, or a text or bytes as a value.
Result<std::string_view> body_in(const TakenSection& taken) {
    if (auto bytes = binary_in(taken.value); bytes) {
        return *bytes;
    }
    auto text = text_in(taken.value);
    if (taken.section != Section::Value || !text) {
        return fail(Errc::InvalidInput,
                    "the body is of AMQP's type {:#04x}: expected data, a text or bytes",
                    taken.value.code);
    }
    return *text;
}

} // namespace

Result<event::Message> SectionReader::read(std::string_view bytes) {
    attributes_.clear();
    texts_.clear();
    body_.clear();
    auto message = event::Message{};
    auto bodies = 0;
    while (!bytes.empty()) {
        auto taken = take_section(bytes);
        if (!taken) {
            return fail(Errc::InvalidInput, "expected the sections of an AMQP 1.0 message");
        }
        if (taken->section == Section::Properties) {
            message.content_type = content_type_in(taken->value);
        } else if (taken->section == Section::ApplicationProperties) {
            if (message.content_type != event_type) {
                TRY(read_application_properties(taken->value));
            }
        } else if (taken->section >= Section::Data && taken->section <= Section::Value) {
            auto part = TRY(body_in(*taken));
            message.body = ++bodies == 1 ? part : join(message.body, part);
        }
    }
    message.attributes = attributes_;
    return message;
}

/// Part 3.2.6: several data sections are one body.
std::string_view SectionReader::join(std::string_view body, std::string_view part) {
    if (body.data() != body_.data()) {
        body_ = body;
    }
    body_ += part;
    return body_;
}

Result<void> SectionReader::read_application_properties(const Amqp10Value& map) {
    auto elements = elements_of(map);
    if (!elements) {
        return fail(Errc::InvalidInput, "the application properties are no map");
    }
    auto& rest = elements->bytes;
    for (auto left = elements->count / 2; left > 0; --left) {
        auto key = take_value(rest);
        auto value = take_value(rest);
        if (!key || !value) {
            return fail(Errc::InvalidInput, "the application properties are cut short");
        }
        auto header = text_in(*key).value_or(std::string_view{});
        auto name = attribute_of(header);
        if (name.empty() || value->code == null_code) {
            continue;
        }
        if (auto text = text_in(*value); text) {
            attributes_.emplace_back(name, *text);
        } else if (auto other = canonical_text(*value); other) {
            attributes_.emplace_back(name, texts_.emplace_back(*std::move(other)));
        } else {
            return fail(Errc::InvalidInput,
                        "header {}: expected a text, an integer, a truth value, bytes or a time up "
                        "to the year 2255, not AMQP's type {:#04x}",
                        header, value->code);
        }
    }
    return {};
}

} // namespace sluice::connector::amqp::internal::stream
