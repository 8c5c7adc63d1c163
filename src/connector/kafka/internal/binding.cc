#include "connector/kafka/internal/binding.h"

#include <algorithm>

namespace sluice::connector::kafka::internal {

namespace {

bool is_content_type(std::string_view name) {
    return std::ranges::equal(name, content_type_header, {}, [](char letter) {
        return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + ('a' - 'A')) : letter;
    });
}

void add_header(rd_kafka_headers_t& headers, std::string_view name, std::string_view value) {
    rd_kafka_header_add(&headers, name.data(), static_cast<ssize_t>(name.size()), value.data(),
                        static_cast<ssize_t>(value.size()));
}

} // namespace

void MessageReader::add(event::ChunkBuilder& builder, std::uint64_t number,
                        const rd_kafka_message_t& message) {
    auto body = std::string_view{static_cast<const char*>(message.payload), message.len};
    rd_kafka_headers_t* headers = nullptr;
    auto code = rd_kafka_message_headers(&message, &headers);
    if (code == RD_KAFKA_RESP_ERR__NOENT) {
        builder.add(number, {.body = body});
        return;
    }
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        builder.add_fault(number, body,
                          fmt::format("its headers cannot be read: {}", rd_kafka_err2str(code)));
        return;
    }
    begin();
    const char* name = nullptr;
    const void* bytes = nullptr;
    auto size = std::size_t{0};
    for (auto at = std::size_t{0};
         rd_kafka_header_get_all(headers, at, &name, &bytes, &size) == RD_KAFKA_RESP_ERR_NO_ERROR;
         ++at) {
        take(name, {static_cast<const char*>(bytes), size});
    }
    builder.add(number, {.content_type = content_type_, .attributes = attributes_, .body = body});
}

void MessageReader::add(event::ChunkBuilder& builder, std::uint64_t number, const Record& record) {
    begin();
    auto headers = HeaderCursor{record};
    auto name = std::string_view{};
    auto value = std::string_view{};
    while (headers.next(name, value)) {
        take(name, value);
    }
    if (!headers.is_at_end()) {
        builder.add_fault(number, record.value, "its headers cannot be read");
        return;
    }
    builder.add(number,
                {.content_type = content_type_, .attributes = attributes_, .body = record.value});
}

void MessageReader::begin() {
    attributes_.clear();
    content_type_ = {};
}

void MessageReader::take(std::string_view header, std::string_view value) {
    if (header.starts_with(attribute_prefix)) {
        attributes_.emplace_back(header.substr(attribute_prefix.size()), value);
    } else if (is_content_type(header)) {
        content_type_ = value;
    }
}

Headers structured_headers() {
    auto headers = Headers{rd_kafka_headers_new(1)};
    add_header(*headers, content_type_header, structured_type);
    return headers;
}

Headers binary_headers(const event::BinaryMessage& message) {
    auto headers = Headers{rd_kafka_headers_new(message.attributes.size() + 1)};
    if (!message.content_type.empty()) {
        add_header(*headers, content_type_header, message.content_type);
    }
    auto header = std::string{};
    for (const auto& [name, value] : message.attributes) {
        header.assign(attribute_prefix).append(name);
        add_header(*headers, header, value);
    }
    return headers;
}

} // namespace sluice::connector::kafka::internal
