#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice {

/// 128 bits that stand for a text (XXH3). Stored, so the function never changes.
struct Fingerprint {
    std::uint64_t high = 0;
    std::uint64_t low = 0;

    auto operator<=>(const Fingerprint&) const = default;
};

Fingerprint fingerprint(std::string_view text);
/// Of two texts, so that ("ab", "c") and ("a", "bc") differ.
Fingerprint fingerprint(std::string_view first, std::string_view second);
/// 64 bits of a text, for hash tables and placement.
std::uint64_t hash64(std::string_view text, std::uint64_t seed = 0);

/// The bits are mixed already, so a table may take them as they are.
struct FingerprintHash {
    using is_avalanching = void; // NOLINT(readability-identifier-naming): boost looks for it.
    std::size_t operator()(const Fingerprint& print) const { return print.low; }
};

} // namespace sluice
