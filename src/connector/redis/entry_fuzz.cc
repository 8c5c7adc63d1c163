#include <cstddef>
#include <cstdint>

#include "base/invariant.h"
#include "connector/redis/entry.h"
#include "connector/redis/internal/stream_reply.h"
#include "resp/parser.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    auto text = std::string_view{reinterpret_cast<const char*>(data), size};
    auto parser = sluice::resp::Parser{{.elements_max = 1000, .depth_max = 8}};
    auto done = parser.feed(text);
    if (!done || !*done) {
        return 0;
    }
    auto builder = sluice::event::ChunkBuilder{};
    auto reader = sluice::connector::redis::EntryReader{};
    auto number = std::uint64_t{0};
    reader.read(++number, parser.reply(text), builder);
    sluice::connector::redis::internal::for_each_stream(
        parser.reply(text), [&](std::string_view, const sluice::resp::Reply& entries) {
            for (const auto& entry : entries) {
                reader.read(++number, entry.item(1), builder);
            }
        });
    auto chunk = builder.take("p");
    INVARIANT(chunk.records.size() == number, "whatever comes becomes a record");
    for (const auto& record : chunk.records) {
        INVARIANT(record.begin + record.size <= chunk.bytes->size(), "a record lies in its chunk");
    }
    return 0;
}
