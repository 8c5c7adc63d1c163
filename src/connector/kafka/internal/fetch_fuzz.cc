#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/invariant.h"
#include "connector/kafka/internal/fetch_protocol.h"
#include "connector/kafka/internal/fetched_records.h"

using namespace sluice::connector::kafka::internal;

namespace {

void take_all(const std::shared_ptr<const std::string>& answer, const Fetched& fetched) {
    auto records = FetchedRecords{answer, fetched, 0, {}};
    auto builder = sluice::event::ChunkBuilder{};
    for (auto chunk = records.take(builder, 1000); chunk && !chunk->records.empty();
         chunk = records.take(builder, 1000)) {
        for (const auto& record : chunk->records) {
            INVARIANT(record.begin + record.size <= chunk->bytes->size(),
                      "a record lies in its chunk");
        }
    }
}

} // namespace

/// The answer of a broker, and the same bytes as the batches of a partition.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    auto answer = std::make_shared<const std::string>(reinterpret_cast<const char*>(data), size);
    take_all(answer, {.aborted = {{.producer = 1, .first_offset = 0}}, .batches = *answer});
    static_cast<void>(takes_our_fetch(*answer).has_value());
    if (auto parts = read_fetch_answer(*answer)) {
        for (const auto& part : *parts) {
            take_all(answer, part);
        }
    }
    return 0;
}
