#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/invariant.h"
#include "connector/amqp/internal/stream/crc32.h"
#include "connector/amqp/internal/stream/stream_lane.h"

namespace {

using namespace sluice;
using namespace sluice::connector::amqp;

constexpr auto header_bytes = std::size_t{48};

/// The size of the data and its checksum are made good: what lies behind them is the question.
std::string mended(std::string bytes) {
    if (bytes.size() < header_bytes) {
        return bytes;
    }
    auto size = static_cast<std::uint32_t>(bytes.size() - header_bytes);
    auto crc = internal::stream::crc32(std::string_view{bytes}.substr(header_bytes));
    for (auto [at, number] : {std::pair{32, crc}, std::pair{36, size}}) {
        number = std::byteswap(number);
        std::memcpy(bytes.data() + at, &number, sizeof(number));
    }
    bytes[0] = '\x50';
    return bytes;
}

void unpack(std::string_view bytes, std::size_t step) {
    auto lane =
        internal::stream::StreamLane{{.name = "stream", .position = 5}, /*subscription=*/1, 2000};
    if (!lane.begin(bytes)) {
        return;
    }
    auto count = std::size_t{0};
    for (auto is_done = lane.unpack(step); is_done && !*is_done; is_done = lane.unpack(step)) {
        INVARIANT(lane.count() >= count, "what was added stays");
        count = lane.count();
    }
    auto last = std::uint64_t{0};
    for (const auto& record : lane.take_chunk().records) {
        INVARIANT(record.number > last, "numbers rise");
        last = record.number;
    }
}

} // namespace

// A chunk as a broker delivers it, its messages with it, once as it is and once with a good frame.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    auto bytes = std::string{reinterpret_cast<const char*>(data), size};
    unpack(bytes, 100);
    unpack(mended(bytes), 1);
    return 0;
}
