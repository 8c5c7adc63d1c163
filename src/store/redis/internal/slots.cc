#include "store/redis/internal/slots.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace sluice::store::redis::internal {
namespace {

/// CRC-16/XMODEM, byte by byte.
constexpr auto crc_table = [] {
    auto table = std::array<std::uint16_t, 256>{};
    for (auto byte = 0U; byte < table.size(); ++byte) {
        auto crc = byte << 8U;
        for (auto bit = 0; bit < 8; ++bit) {
            crc = (crc & 0x8000U) != 0 ? (crc << 1U) ^ 0x1021U : crc << 1U;
        }
        table[byte] = static_cast<std::uint16_t>(crc);
    }
    return table;
}();

std::string_view tag_of(std::string_view key) {
    auto open = key.find('{');
    if (open == std::string_view::npos) {
        return key;
    }
    auto close = key.find('}', open + 1);
    if (close == std::string_view::npos || close == open + 1) {
        return key;
    }
    return key.substr(open + 1, close - open - 1);
}

} // namespace

std::uint16_t slot_of(std::string_view key) {
    auto crc = 0U;
    for (auto byte : tag_of(key)) {
        auto at = ((crc >> 8U) ^ static_cast<unsigned char>(byte)) & 0xFFU;
        crc = ((crc << 8U) ^ crc_table[at]) & 0xFFFFU;
    }
    return static_cast<std::uint16_t>(crc % slot_count);
}

std::optional<Redirect> redirect_in(std::string_view error) {
    auto redirect = Redirect{};
    if (error.starts_with("MOVED ")) {
        error.remove_prefix(6);
    } else if (error.starts_with("ASK ")) {
        redirect.kind = Redirect::Kind::Ask;
        error.remove_prefix(4);
    } else {
        return std::nullopt;
    }
    auto space = error.find(' ');
    auto slot = error.substr(0, space);
    auto [end, fault] = std::from_chars(slot.data(), slot.data() + slot.size(), redirect.slot);
    if (space == std::string_view::npos || fault != std::errc{} ||
        end != slot.data() + slot.size() || redirect.slot >= slot_count) {
        return std::nullopt;
    }
    auto to = parse_address(error.substr(space + 1));
    if (!to) {
        return std::nullopt;
    }
    redirect.to = std::move(*to);
    return redirect;
}

Result<SlotMap> SlotMap::parse(const resp::Reply& reply, std::string_view asked) {
    auto map = SlotMap{};
    map.owners_.resize(slot_count);
    if (reply.size() > slot_count) {
        return fail(Errc::Corrupt, "the cluster gave {} ranges of slots", reply.size());
    }
    for (const auto& range : reply) {
        auto first = range.item(0).number();
        auto last = range.item(1).number();
        auto node = range.item(2);
        auto port = node.item(1).number();
        if (first < 0 || first > last || last >= slot_count || port < 1 || port > 0xFFFF) {
            return fail(Errc::Corrupt, "the cluster gave slots {} to {} at port {}", first, last,
                        port);
        }
        auto host = node.item(0).text();
        auto is_named = !host.empty() && host != "?";
        auto number = map.number_of({.host = std::string{is_named ? host : asked},
                                     .port = static_cast<std::uint16_t>(port)});
        std::fill(map.owners_.begin() + first, map.owners_.begin() + last + 1, number);
    }
    return map;
}

const Address* SlotMap::owner_of(std::uint16_t slot) const {
    auto number = slot < owners_.size() ? owners_[slot] : 0;
    return number == 0 ? nullptr : &nodes_[number - 1U];
}

void SlotMap::move(std::uint16_t slot, const Address& to) {
    if (slot < owners_.size()) {
        owners_[slot] = number_of(to);
    }
}

std::uint16_t SlotMap::number_of(const Address& node) {
    auto found = std::ranges::find(nodes_, node);
    if (found == nodes_.end()) {
        found = nodes_.insert(nodes_.end(), node);
    }
    return static_cast<std::uint16_t>(found - nodes_.begin() + 1);
}

} // namespace sluice::store::redis::internal
