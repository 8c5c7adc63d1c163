#include <boost/asio/ip/address.hpp>

#include "http/client.h"

namespace sluice::http {

namespace {

using boost::asio::ip::address_v4;
using boost::asio::ip::address_v6;

struct Range {
    std::uint32_t network;
    std::uint32_t bits;
};

constexpr std::uint32_t quad(std::uint32_t a, std::uint32_t b = 0, std::uint32_t c = 0,
                             std::uint32_t d = 0) {
    return a << 24U | b << 16U | c << 8U | d;
}

/// This machine, private and shared networks, link-local, benchmarks, documentation, multicast,
/// reserved.
constexpr Range inner_ranges[] = {
    {quad(0), 8},         {quad(10), 8},       {quad(100, 64), 10},      {quad(127), 8},
    {quad(169, 254), 16}, {quad(172, 16), 12}, {quad(192, 0, 0), 24},    {quad(192, 0, 2), 24},
    {quad(192, 168), 16}, {quad(198, 18), 15}, {quad(198, 51, 100), 24}, {quad(203, 0, 113), 24},
    {quad(224), 4},       {quad(240), 4},
};

bool is_public(const address_v4& address) {
    auto bits = address.to_uint();
    for (const auto& range : inner_ranges) {
        if ((bits ^ range.network) >> (32 - range.bits) == 0) {
            return false;
        }
    }
    return true;
}

bool is_public(const address_v6& address) {
    auto bytes = address.to_bytes();
    if (address.is_v4_mapped()) {
        return is_public(boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, address));
    }
    // 64:ff9b::/96 and 2002::/16 carry an IPv4 address that a gateway would go to.
    if (bytes[0] == 0x00 && bytes[1] == 0x64 && bytes[2] == 0xFF && bytes[3] == 0x9B) {
        return is_public(address_v4{{bytes[12], bytes[13], bytes[14], bytes[15]}});
    }
    if (bytes[0] == 0x20 && bytes[1] == 0x02) {
        return is_public(address_v4{{bytes[2], bytes[3], bytes[4], bytes[5]}});
    }
    // Of what is left only 2000::/3 is given out, and of that not documentation or Teredo.
    auto is_global = (bytes[0] & 0xE0U) == 0x20;
    auto is_special = bytes[0] == 0x20 && bytes[1] == 0x01 &&
                      ((bytes[2] == 0x0D && bytes[3] == 0xB8) || (bytes[2] == 0 && bytes[3] == 0));
    return is_global && !is_special;
}

} // namespace

bool is_public_address(std::string_view text) {
    auto error = boost::system::error_code{};
    auto address = boost::asio::ip::make_address(std::string{text}, error);
    if (error) {
        return false;
    }
    return address.is_v4() ? is_public(address.to_v4()) : is_public(address.to_v6());
}

} // namespace sluice::http
