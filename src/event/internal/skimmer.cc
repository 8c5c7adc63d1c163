#include "event/internal/skimmer.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace sluice::event::internal {

namespace {

constexpr auto block_bytes = std::ptrdiff_t{64};

/// The bit in which '[' and '{' differ, and ']' and '}'; nothing else becomes a brace by it.
constexpr auto bracket_bit = char{0x20};

/// Which bytes of a block are what, a bit each.
struct Block {
    std::uint64_t quotes = 0;
    std::uint64_t backslashes = 0;
    std::uint64_t opens = 0;
    std::uint64_t closes = 0;
};

#ifdef __SSE2__
inline std::uint64_t places_of(char wanted, __m128i bytes) {
    auto found = _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(wanted)));
    return static_cast<std::uint32_t>(found);
}

inline std::uint64_t places_of(char wanted, const __m128i (&bytes)[4]) {
    return places_of(wanted, bytes[0]) | (places_of(wanted, bytes[1]) << 16U) |
           (places_of(wanted, bytes[2]) << 32U) | (places_of(wanted, bytes[3]) << 48U);
}

Block classify(const char* at) {
    __m128i bytes[4];
    __m128i folded[4];
    for (auto part = std::size_t{0}; part < std::size(bytes); ++part) {
        bytes[part] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at) + part);
        folded[part] = _mm_or_si128(bytes[part], _mm_set1_epi8(bracket_bit));
    }
    return {.quotes = places_of('"', bytes),
            .backslashes = places_of('\\', bytes),
            .opens = places_of('{', folded),
            .closes = places_of('}', folded)};
}
#else
Block classify(const char* at) {
    auto block = Block{};
    for (auto shift = 0; shift < block_bytes; ++shift) {
        auto folded = at[shift] | bracket_bit;
        block.quotes |= std::uint64_t{at[shift] == '"'} << shift;
        block.backslashes |= std::uint64_t{at[shift] == '\\'} << shift;
        block.opens |= std::uint64_t{folded == '{'} << shift;
        block.closes |= std::uint64_t{folded == '}'} << shift;
    }
    return block;
}
#endif

Block read_block(const char* at, const char* end) {
    char padded[block_bytes];
    if (end - at < block_bytes) [[unlikely]] {
        std::memset(padded, ' ', sizeof(padded));
        std::memcpy(padded, at, static_cast<std::size_t>(end - at));
        at = padded;
    }
    return classify(at);
}

/// The bytes behind a backslash that is not behind one itself. `is_first` goes on from block to
/// block: whether the first byte is such a one.
std::uint64_t escaped(std::uint64_t backslashes, bool& is_first) {
    auto found = std::uint64_t{is_first};
    auto rest = backslashes & ~found;
    is_first = false;
    while (rest != 0) {
        auto backslash = rest & (~rest + 1);
        found |= backslash << 1U;
        is_first = is_first || backslash == std::uint64_t{1} << 63U;
        rest &= ~(backslash | (backslash << 1U));
    }
    return found;
}

/// From each quote that opens a string up to the one that closes it.
std::uint64_t between(std::uint64_t quotes) {
    quotes ^= quotes << 1U;
    quotes ^= quotes << 2U;
    quotes ^= quotes << 4U;
    quotes ^= quotes << 8U;
    quotes ^= quotes << 16U;
    return quotes ^ (quotes << 32U);
}

// Positions are handed on as values: each step waits for the last, so they had better be in
// registers.

inline const char* skip_space(const char* at, const char* end) {
    while (at < end && static_cast<unsigned char>(*at) <= ' ') {
        ++at;
    }
    return at;
}

/// Behind the byte there, if there is one.
inline const char* step(const char* at, const char* end) {
    return at < end ? at + 1 : at;
}

/// Where a string ends, or has an escape.
inline const char* find_quote(const char* at, const char* end) {
#ifdef __SSE2__
    for (; end - at >= 16; at += 16) {
        auto bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
        if (auto marks = places_of('"', bytes) | places_of('\\', bytes); marks != 0) {
            return at + std::countr_zero(marks);
        }
    }
#endif
    while (at < end && *at != '"' && *at != '\\') {
        ++at;
    }
    return at;
}

/// From behind its first quote to its last.
inline const char* find_string_end(const char* at, const char* end, bool& has_escape) {
    at = find_quote(at, end);
    while (at < end && *at == '\\') [[unlikely]] {
        has_escape = true;
        at = find_quote(at + std::min<std::ptrdiff_t>(2, end - at), end);
    }
    return at;
}

const char* pass_container(const char* at, const char* end) {
    auto depth = std::size_t{0};
    auto in_string = std::uint64_t{0}; // All bits: the block begins within one.
    auto is_escaped = false;
    while (at < end) {
        auto block = read_block(at, end);
        auto quotes = block.quotes & ~escaped(block.backslashes, is_escaped);
        auto inside = between(quotes) ^ in_string;
        in_string = ~((inside >> 63U) - 1);
        auto brackets = (block.opens | block.closes) & ~inside;
        for (; brackets != 0; brackets &= brackets - 1) {
            auto place = std::countr_zero(brackets);
            depth = ((block.opens >> place) & 1U) != 0 ? depth + 1 : depth - 1;
            if (depth == 0) {
                return at + place + 1;
            }
        }
        at += std::min(block_bytes, end - at);
    }
    return at;
}

/// A number, `true`, `false` or `null`.
inline const char* pass_word(const char* at, const char* end) {
    while (at < end && static_cast<unsigned char>(*at) > ' ' && *at != ',' && *at != '}' &&
           *at != ']') {
        ++at;
    }
    return at;
}

} // namespace

bool Skimmer::next(char close) {
    const auto* at = skip_space(at_, end_);
    auto is_over = at == end_ || *at == close;
    // Otherwise it is at a bracket or a comma.
    at_ = is_over ? at : skip_space(at + 1, end_);
    return !is_over && at_ < end_ && *at_ != close;
}

bool Skimmer::next_member(Scanner::String& name) {
    if (!next('}')) {
        return false;
    }
    const auto* begin = step(at_, end_);
    auto has_escape = false;
    const auto* at = find_string_end(begin, end_, has_escape);
    // Field by field: a copy of what was just written so would have to wait for it.
    name.raw = {begin, static_cast<std::size_t>(at - begin)};
    name.has_escape = has_escape;
    const auto* colon = skip_space(step(at, end_), end_);
    at_ = skip_space(step(colon, end_), end_);
    return true;
}

std::string_view Skimmer::pass_value() {
    const auto* begin = at_;
    auto first = peek();
    auto has_escape = false;
    at_ = first == '"' ? step(find_string_end(step(begin, end_), end_, has_escape), end_)
          : first == '{' || first == '[' ? pass_container(begin, end_)
                                         : pass_word(begin, end_);
    return {begin, static_cast<std::size_t>(at_ - begin)};
}

} // namespace sluice::event::internal
