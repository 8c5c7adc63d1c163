#include "base/fingerprint.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace sluice {

Fingerprint fingerprint(std::string_view text) {
    auto hash = XXH3_128bits(text.data(), text.size());
    return {.high = hash.high64, .low = hash.low64};
}

Fingerprint fingerprint(std::string_view first, std::string_view second) {
    // The first text's own hash is the seed of the second's, so its length is covered.
    auto seed = XXH3_64bits(first.data(), first.size());
    auto hash = XXH3_128bits_withSeed(second.data(), second.size(), seed);
    return {.high = hash.high64, .low = hash.low64 ^ seed};
}

std::uint64_t hash64(std::string_view text, std::uint64_t seed) {
    return XXH3_64bits_withSeed(text.data(), text.size(), seed);
}

} // namespace sluice
