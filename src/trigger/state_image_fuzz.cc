#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/invariant.h"
#include "trigger/state_image.h"

/// An image is read or refused, and what was read gives an image that is read again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    auto bytes = std::string_view{reinterpret_cast<const char*>(data), size};
    auto state = sluice::trigger::RunState{};
    if (sluice::trigger::decode_image(bytes, state)) {
        auto again = sluice::trigger::RunState{};
        auto image = sluice::trigger::encode_image(state);
        INVARIANT(sluice::trigger::decode_image(image, again).has_value(), "an image can be read");
    }
    return 0;
}
