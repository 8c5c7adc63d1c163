#include "expr/cel/runtime/network.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include <arpa/inet.h>

namespace sluice::expr::cel::runtime {
namespace {

/// `::ffff:a.b.c.d` is the same address as `a.b.c.d`.
Interval unmapped(Interval address) {
    constexpr auto mapped = std::array<unsigned char, 12>{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    if (address.size == 16 && std::memcmp(address.bytes, mapped.data(), mapped.size()) == 0) {
        std::memmove(address.bytes, address.bytes + mapped.size(), 4);
        address.size = 4;
        address.prefix_bits = 32;
    }
    return address;
}

} // namespace

std::optional<Interval> read_address(std::string_view text) {
    auto written = std::string{text.substr(0, 64)};
    auto address = Interval{};
    if (inet_pton(AF_INET, written.c_str(), address.bytes) == 1) {
        return address;
    }
    auto is_dotted = text.contains('.');
    if (is_dotted || inet_pton(AF_INET6, written.c_str(), address.bytes) != 1) {
        return std::nullopt;
    }
    address.size = 16;
    address.prefix_bits = 128;
    return unmapped(address);
}

std::optional<Interval> read_network(std::string_view text) {
    auto slash = text.find('/');
    if (slash == std::string_view::npos) {
        return std::nullopt;
    }
    auto network = read_address(text.substr(0, slash));
    auto digits = text.substr(slash + 1);
    auto bits = 0U;
    auto read = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
    auto is_whole = read.ec == std::errc{} && read.ptr == digits.data() + digits.size();
    auto is_padded = digits.size() > 1 && digits.front() == '0';
    if (!network || !is_whole || is_padded || bits > network->size * 8U) {
        return std::nullopt;
    }
    network->prefix_bits = static_cast<std::uint8_t>(bits);
    return network;
}

std::string write_interval(const Cell& cell) {
    const auto& interval = cell.interval();
    auto text = std::array<char, INET6_ADDRSTRLEN>{};
    inet_ntop(interval.size == 4 ? AF_INET : AF_INET6, interval.bytes, text.data(), text.size());
    auto written = std::string{text.data()};
    return cell.is(Kind::Address) ? written : written + "/" + std::to_string(interval.prefix_bits);
}

} // namespace sluice::expr::cel::runtime
