#include "value/internal/key_index.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <random>

#include "base/fingerprint.h"
#include "base/invariant.h"

namespace sluice::value {

namespace {

// Unknown outside this process, so that no sender can choose keys that all meet in one slot.
std::uint64_t key_seed() {
    static const auto seed = [] {
        auto device = std::random_device{};
        return (std::uint64_t{device()} << 32U) | device();
    }();
    return seed;
}

std::size_t find_linear(std::span<const Member> members, std::string_view key) {
    auto at =
        std::ranges::find_if(members, [key](const auto& member) { return member.key == key; });
    return static_cast<std::size_t>(at - members.begin());
}

} // namespace

KeyIndex::KeyIndex(std::size_t members_max) {
    INVARIANT(members_max < std::numeric_limits<std::uint32_t>::max(),
              "a place in a map has 32 bits");
    if (members_max > linear_members_max) {
        slots_.resize(std::bit_ceil(members_max * 2));
    }
}

std::size_t KeyIndex::find(std::span<const Member> members, std::string_view key) const {
    if (slots_.empty()) {
        return find_linear(members, key);
    }
    auto place = slots_[slot_of(members, key)];
    return place == 0 ? members.size() : place - 1;
}

std::size_t KeyIndex::find_or_add(std::span<const Member> members, std::string_view key,
                                  std::size_t place) {
    if (slots_.empty()) {
        return std::min(find_linear(members.first(place), key), place);
    }
    auto& slot = slots_[slot_of(members, key)];
    if (slot == 0) {
        slot = static_cast<std::uint32_t>(place + 1);
    }
    return slot - 1;
}

std::size_t KeyIndex::slot_of(std::span<const Member> members, std::string_view key) const {
    auto mask = slots_.size() - 1;
    auto slot = hash64(key, key_seed()) & mask;
    while (slots_[slot] != 0 && members[slots_[slot] - 1].key != key) {
        slot = (slot + 1) & mask;
    }
    return slot;
}

KeyIndex KeyIndex::merge_repeated(std::vector<Member>& members) {
    auto index = KeyIndex{members.size()};
    auto kept = std::size_t{0};
    for (auto at = std::size_t{0}; at < members.size(); ++at) {
        auto place = index.find_or_add(members, members[at].key, kept);
        if (place < kept) {
            members[place].value = std::move(members[at].value);
            continue;
        }
        if (kept != at) {
            members[kept] = std::move(members[at]);
        }
        ++kept;
    }
    members.resize(kept);
    return index;
}

} // namespace sluice::value
