#include <cstdint>

#include "connector/amqp/internal/stream/message_sections.h"
#include "event/codec.h"

// A message as it lies in a stream: sections of AMQP 1.0.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice;
    auto bytes = std::string_view{reinterpret_cast<const char*>(data), size};
    auto reader = connector::amqp::internal::stream::SectionReader{};
    auto builder = event::ChunkBuilder{};
    if (auto message = reader.read(bytes); message) {
        builder.add(1, *message);
        auto codec = event::Codec{};
        auto chunk = builder.take("stream");
        for (const auto& record : chunk.records) {
            auto json = std::string_view{*chunk.bytes}.substr(record.begin, record.size);
            std::ignore = codec.parse_shared(json, chunk.bytes);
        }
    }
    return 0;
}
