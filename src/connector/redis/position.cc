#include "connector/redis/position.h"

#include <charconv>

namespace sluice::connector::redis {
namespace {

constexpr auto millis_bits = 64 - sequence_bits;

} // namespace

Result<std::uint64_t> position_of(std::string_view id) {
    auto millis = std::uint64_t{0};
    auto sequence = std::uint64_t{0};
    const auto* end = id.data() + id.size();
    auto first = std::from_chars(id.data(), end, millis);
    if (first.ec != std::errc{} || first.ptr == end || *first.ptr != '-') {
        return fail(Errc::InvalidInput, "{} is no id of a stream's entry: 1526919030474-0 is one",
                    id);
    }
    auto second = std::from_chars(first.ptr + 1, end, sequence);
    if (second.ec != std::errc{} || second.ptr != end) {
        return fail(Errc::InvalidInput, "{} is no id of a stream's entry: 1526919030474-0 is one",
                    id);
    }
    if (millis >> millis_bits != 0 || sequence >> sequence_bits != 0 ||
        (millis == 0 && sequence == 0)) {
        return fail(Errc::Unsupported,
                    "the id {} does not fit into a position: milliseconds have to be below {}, the "
                    "sequence below {}; let the server choose ids (XADD with *)",
                    id, 1ULL << millis_bits, 1ULL << sequence_bits);
    }
    return millis << sequence_bits | sequence;
}

std::string id_of(std::uint64_t position) {
    return fmt::format("{}-{}", position >> sequence_bits,
                       position & ((1ULL << sequence_bits) - 1));
}

} // namespace sluice::connector::redis
