#include "connector/redis/entry.h"

#include <string>

namespace sluice::connector::redis {
namespace {

constexpr auto event_field = std::string_view{"event"};
constexpr auto type_field = std::string_view{"content-type"};
constexpr auto data_field = std::string_view{"data"};
constexpr auto attribute_prefix = std::string_view{"ce_"};
constexpr auto structured_type = std::string_view{"application/cloudevents+json"};

/// XADD, the stream, and how long it may be, with so many fields to follow.
void begin(resp::Commands& out, std::string_view stream, std::uint64_t length_max,
           std::size_t fields) {
    out.begin((length_max == 0 ? 3 : 6) + 2 * fields);
    out.argument(std::string_view{"XADD"});
    out.argument(stream);
    if (length_max != 0) {
        out.argument(std::string_view{"MAXLEN"});
        out.argument(std::string_view{"~"});
        out.argument(length_max);
    }
    out.argument(std::string_view{"*"});
}

} // namespace

void EntryReader::read(std::uint64_t number, const resp::Reply& fields, event::ChunkBuilder& into) {
    auto message = event::Message{};
    attributes_.clear();
    auto has_body = false;
    auto is_structured = false;
    resp::for_each_pair(fields, [&](const resp::Reply& field, const resp::Reply& content) {
        auto name = field.text();
        auto value = content.text();
        if (is_structured) {
            return;
        }
        if (name == event_field) {
            message.content_type = structured_type;
            message.body = value;
            is_structured = true;
        } else if (name == type_field) {
            message.content_type = value;
        } else if (name == data_field) {
            message.body = value;
            has_body = true;
        } else if (name.starts_with(attribute_prefix)) {
            attributes_.emplace_back(name.substr(attribute_prefix.size()), value);
        }
    });
    if (!is_structured && !has_body && attributes_.empty()) {
        auto first = fields.item(0).text();
        into.add_fault(number, first,
                       "an entry without a field event, and without fields ce_id, ce_source and "
                       "ce_type, is no CloudEvent");
        return;
    }
    message.attributes = attributes_;
    into.add(number, message);
}

Result<void> EntryWriter::write(std::string_view stream, std::string_view json,
                                std::uint64_t length_max, resp::Commands& out) {
    if (mode_ == Mode::Binary) {
        return write_binary(stream, json, length_max, out);
    }
    begin(out, stream, length_max, 1);
    out.argument(event_field);
    out.argument(json);
    return {};
}

Result<void> EntryWriter::write_binary(std::string_view stream, std::string_view json,
                                       std::uint64_t length_max, resp::Commands& out) {
    auto event = TRY(codec_.parse(json));
    auto binary = event::to_binary(event);
    auto has_type = !binary.content_type.empty();
    begin(out, stream, length_max, binary.attributes.size() + (has_type ? 2 : 1));
    for (const auto& [name, value] : binary.attributes) {
        out.argument(std::string{attribute_prefix} + name);
        out.argument(value);
    }
    if (has_type) {
        out.argument(type_field);
        out.argument(binary.content_type);
    }
    out.argument(data_field);
    out.argument(binary.body);
    return {};
}

} // namespace sluice::connector::redis
