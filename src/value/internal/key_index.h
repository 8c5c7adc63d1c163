#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "value/value.h"

namespace sluice::value {

/// Finds a map's member by its key: one by one in small maps, by a hash table in large ones.
///
/// It holds places, not keys, so every call is given the members it was built for.
class KeyIndex {
public:
    /// Up to so many members looking at each is faster than hashing.
    static constexpr std::size_t linear_members_max = 8;

    /// Of members with the same key the last value stands, at the place of the first.
    static KeyIndex merge_repeated(std::vector<Member>& members);

    /// The member's place, or members.size() when there is none.
    std::size_t find(std::span<const Member> members, std::string_view key) const;

private:
    explicit KeyIndex(std::size_t members_max);

    /// The place of the member with this key; takes `place` for it when there is none yet.
    std::size_t find_or_add(std::span<const Member> members, std::string_view key,
                            std::size_t place);
    /// The slot that holds the key, or the empty one where it belongs.
    std::size_t slot_of(std::span<const Member> members, std::string_view key) const;

    std::vector<std::uint32_t> slots_; ///< Places plus one, 0 where free; none in small maps.
};

} // namespace sluice::value
