#include <cstddef>
#include <cstdint>

#include "base/invariant.h"
#include "value/binary.h"

// Whatever is decoded has exactly the bytes it was decoded from.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    auto bytes = std::string_view{reinterpret_cast<const char*>(data), size};
    auto in = sluice::Decoder{bytes};
    auto value = sluice::value::decode(in);
    if (!value) {
        INVARIANT(value.error().code == sluice::Errc::Corrupt, "bad bytes are corrupt");
        return 0;
    }
    auto again = std::string{};
    auto out = sluice::Encoder{again};
    sluice::value::encode(*value, out);
    INVARIANT(again == bytes.substr(0, size - in.rest().size()), "a value has one encoding");
    INVARIANT(sluice::value::compare(*value, *value) == 0, "a value equals itself");
    sluice::value::hash(*value);
    return 0;
}
