#include <cstdint>
#include <string_view>

#include "base/invariant.h"
#include "store/flat_batch.h"

// Whatever replays must come out as data that replays to the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice::store;
    auto first = FlatBatch{};
    if (!replay({reinterpret_cast<const char*>(data), size}, first)) {
        return 0;
    }
    auto second = FlatBatch{};
    INVARIANT(replay(first.data(), second).has_value(), "what a batch wrote is readable");
    INVARIANT(first.data() == second.data(), "replaying changes nothing");
    return 0;
}
