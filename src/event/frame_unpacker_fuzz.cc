#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/invariant.h"
#include "event/frame_unpacker.h"

/// Whatever a broker or a store gives as frames, unpacking them ends within its bound.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr auto bytes_max = std::size_t{1} << 20U;
    auto frames = std::string_view{reinterpret_cast<const char*>(data), size};
    auto unpacker = sluice::event::FrameUnpacker{};
    auto buffer = std::string{};
    auto used = std::size_t{0};
    while (!frames.empty()) {
        auto before = frames.size();
        auto end = unpacker.unpack(frames, buffer, used, bytes_max);
        if (!end) {
            break;
        }
        INVARIANT(*end >= used && *end <= bytes_max && buffer.size() <= bytes_max,
                  "what is unpacked stays within its bound");
        INVARIANT(frames.size() < before, "a frame that was unpacked is taken off");
        used = *end;
    }
    return 0;
}
