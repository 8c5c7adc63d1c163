#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <librdkafka/rdkafka.h>

#include "connector/kafka/internal/record_cursor.h"
#include "event/message.h"

namespace sluice::connector::kafka::internal {

inline constexpr std::string_view attribute_prefix = "ce_";
inline constexpr std::string_view content_type_header = "content-type";
inline constexpr std::string_view structured_type = "application/cloudevents+json";

/// Messages of Kafka as events, by the CloudEvents binding: attributes are headers `ce_…`.
class MessageReader {
public:
    void add(event::ChunkBuilder& builder, std::uint64_t number, const rd_kafka_message_t& message);
    void add(event::ChunkBuilder& builder, std::uint64_t number, const Record& record);

private:
    void begin();
    void take(std::string_view header, std::string_view value);

    std::string_view content_type_;
    std::vector<std::pair<std::string_view, std::string_view>> attributes_;
};

struct HeadersDeleter {
    void operator()(rd_kafka_headers_t* headers) const { rd_kafka_headers_destroy(headers); }
};
using Headers = std::unique_ptr<rd_kafka_headers_t, HeadersDeleter>;

Headers structured_headers();
Headers binary_headers(const event::BinaryMessage& message);

} // namespace sluice::connector::kafka::internal
