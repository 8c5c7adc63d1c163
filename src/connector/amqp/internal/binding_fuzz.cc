#include <cstdint>
#include <tuple>

#include "connector/amqp/internal/binding.h"

namespace {

using namespace sluice;
using namespace sluice::connector::amqp;

void read_message(const amqp_table_t& headers, std::string_view body) {
    auto properties = amqp_basic_properties_t{};
    properties._flags = AMQP_BASIC_HEADERS_FLAG;
    properties.headers = headers;
    std::ignore = internal::stream_offset(properties);
    auto reader = internal::MessageReader{};
    auto builder = event::ChunkBuilder{};
    if (auto message = reader.read(properties, body); message) {
        builder.add(1, *message);
        auto codec = event::Codec{};
        auto chunk = builder.take("queue");
        for (const auto& record : chunk.records) {
            auto json = std::string_view{*chunk.bytes}.substr(record.begin, record.size);
            std::ignore = codec.parse_shared(json, chunk.bytes);
        }
    }
}

} // namespace

// The headers of a message as they come from a broker, in AMQP's own encoding.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    auto pool = amqp_pool_t{};
    init_amqp_pool(&pool, 4096);
    auto encoded = amqp_bytes_t{.len = size, .bytes = const_cast<std::uint8_t*>(data)};
    auto headers = amqp_table_t{};
    auto offset = std::size_t{0};
    if (amqp_decode_table(encoded, &pool, &headers, &offset) == AMQP_STATUS_OK) {
        read_message(headers, {reinterpret_cast<const char*>(data) + offset, size - offset});
    }
    empty_amqp_pool(&pool);
    return 0;
}
