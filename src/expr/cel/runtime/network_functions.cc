#include <array>
#include <cstring>

#include "expr/cel/runtime/excerpt.h"
#include "expr/cel/runtime/function.h"
#include "expr/cel/runtime/network.h"
#include "expr/cel/runtime/text_of.h"

namespace sluice::expr::cel::runtime {
namespace {

/// Whether the first bits of an address are those of a network.
bool begins_like(const Interval& address, const Interval& network) {
    if (address.size != network.size) {
        return false;
    }
    auto whole = network.prefix_bits / 8U;
    auto rest = network.prefix_bits % 8U;
    auto mask = static_cast<unsigned char>(0xff00U >> rest);
    return std::memcmp(address.bytes, network.bytes, whole) == 0 &&
           (rest == 0 || ((address.bytes[whole] ^ network.bytes[whole]) & mask) == 0);
}

Cell unreadable_network(Machine& machine, std::string_view function, std::string_view text) {
    return machine.fault("bad_conversion", "{}() cannot read \"{}\"", function, excerpt(text));
}

/// `ip(text)`, and `network.ip()`.
Cell to_address(Machine& machine, Arguments arguments) {
    const auto& operand = arguments[0];
    if (operand.is(Kind::Address)) {
        return operand;
    }
    if (operand.is(Kind::Network)) {
        auto address = operand.interval();
        address.prefix_bits = static_cast<std::uint8_t>(address.size * 8);
        return machine.network(Kind::Address, address);
    }
    if (!operand.is(Kind::String)) {
        return machine.no_overload("ip", arguments);
    }
    auto address = read_address(operand.text());
    return address ? machine.network(Kind::Address, *address)
                   : unreadable_network(machine, "ip", operand.text());
}

Cell to_network(Machine& machine, Arguments arguments) {
    const auto& operand = arguments[0];
    if (operand.is(Kind::Network)) {
        return operand;
    }
    if (!operand.is(Kind::String)) {
        return machine.no_overload("cidr", arguments);
    }
    auto network = read_network(operand.text());
    return network ? machine.network(Kind::Network, *network)
                   : unreadable_network(machine, "cidr", operand.text());
}

Cell is_address(Machine& machine, Arguments arguments) {
    return arguments[0].is(Kind::String)
               ? Cell::boolean(read_address(arguments[0].text()).has_value())
               : machine.no_overload("isIP", arguments);
}

Cell is_network(Machine& machine, Arguments arguments) {
    return arguments[0].is(Kind::String)
               ? Cell::boolean(read_network(arguments[0].text()).has_value())
               : machine.no_overload("isCIDR", arguments);
}

Cell is_canonical(Machine& machine, Arguments arguments) {
    auto address = to_address(machine, arguments);
    return address.is_fault() || !arguments[0].is(Kind::String)
               ? address
               : Cell::boolean(text_of(address) == arguments[0].text());
}

Cell family(Machine& machine, Arguments arguments) {
    return arguments[0].is(Kind::Address) ? Cell::integer(arguments[0].interval().size == 4 ? 4 : 6)
                                          : machine.no_overload("family", arguments);
}

bool is_zero_but_last(const Interval& address, unsigned char last) {
    for (auto at = 0U; at + 1 < address.size; ++at) {
        if (address.bytes[at] != 0) {
            return false;
        }
    }
    return address.bytes[address.size - 1] == last;
}

bool is_unspecified(const Interval& address) {
    return is_zero_but_last(address, 0);
}
bool is_loopback(const Interval& address) {
    return address.size == 4 ? address.bytes[0] == 127 : is_zero_but_last(address, 1);
}
bool is_multicast(const Interval& address) {
    return address.size == 4 ? (address.bytes[0] & 0xf0U) == 0xe0 : address.bytes[0] == 0xff;
}
bool is_link_local_multicast(const Interval& address) {
    return address.size == 4
               ? address.bytes[0] == 224 && address.bytes[1] == 0 && address.bytes[2] == 0
               : address.bytes[0] == 0xff && (address.bytes[1] & 0x0fU) == 2;
}
bool is_link_local_unicast(const Interval& address) {
    return address.size == 4 ? address.bytes[0] == 169 && address.bytes[1] == 254
                             : address.bytes[0] == 0xfe && (address.bytes[1] & 0xc0U) == 0x80;
}
bool is_global_unicast(const Interval& address) {
    auto is_broadcast = address.size == 4 && std::memcmp(address.bytes, "\xff\xff\xff\xff", 4) == 0;
    return !is_broadcast && !is_unspecified(address) && !is_loopback(address) &&
           !is_multicast(address) && !is_link_local_unicast(address);
}

template <bool (*holds)(const Interval&)>
Cell asks(Machine& machine, Arguments arguments) {
    return arguments[0].is(Kind::Address) ? Cell::boolean(holds(arguments[0].interval()))
                                          : machine.no_overload("is…", arguments);
}

Cell contains_address(Machine& machine, Arguments arguments) {
    auto address = to_address(machine, arguments.subspan(1));
    if (address.is_fault() || !arguments[0].is(Kind::Network)) {
        return address.is_fault() ? address : machine.no_overload("containsIP", arguments);
    }
    return Cell::boolean(begins_like(address.interval(), arguments[0].interval()));
}

Cell contains_network(Machine& machine, Arguments arguments) {
    auto inner = to_network(machine, arguments.subspan(1));
    if (inner.is_fault() || !arguments[0].is(Kind::Network)) {
        return inner.is_fault() ? inner : machine.no_overload("containsCIDR", arguments);
    }
    return Cell::boolean(arguments[0].interval().prefix_bits <= inner.interval().prefix_bits &&
                         begins_like(inner.interval(), arguments[0].interval()));
}

Cell masked(Machine& machine, Arguments arguments) {
    if (!arguments[0].is(Kind::Network)) {
        return machine.no_overload("masked", arguments);
    }
    auto network = arguments[0].interval();
    for (auto bit = unsigned{network.prefix_bits}; bit < network.size * 8U; ++bit) {
        network.bytes[bit / 8] &= static_cast<unsigned char>(~(0x80U >> bit % 8));
    }
    return machine.network(Kind::Network, network);
}

Cell prefix_length(Machine& machine, Arguments arguments) {
    return arguments[0].is(Kind::Network) ? Cell::integer(arguments[0].interval().prefix_bits)
                                          : machine.no_overload("prefixLength", arguments);
}

constexpr Function question(std::string_view name, Implementation implementation) {
    return {name, CallStyle::Member, 1, 1, only(Kind::Bool), implementation};
}

constexpr auto network_table = std::array{
    Function{"ip", CallStyle::Either, 1, 1, only(Kind::Address), to_address},
    Function{"cidr", CallStyle::Global, 1, 1, only(Kind::Network), to_network},
    Function{"isIP", CallStyle::Global, 1, 1, only(Kind::Bool), is_address},
    Function{"isCIDR", CallStyle::Global, 1, 1, only(Kind::Bool), is_network},
    Function{"ip.isCanonical", CallStyle::Global, 1, 1, only(Kind::Bool), is_canonical},
    Function{"family", CallStyle::Member, 1, 1, only(Kind::Int), family},
    question("isUnspecified", asks<is_unspecified>),
    question("isLoopback", asks<is_loopback>),
    question("isGlobalUnicast", asks<is_global_unicast>),
    question("isLinkLocalMulticast", asks<is_link_local_multicast>),
    question("isLinkLocalUnicast", asks<is_link_local_unicast>),
    Function{"containsIP", CallStyle::Member, 2, 2, only(Kind::Bool), contains_address},
    Function{"containsCIDR", CallStyle::Member, 2, 2, only(Kind::Bool), contains_network},
    Function{"masked", CallStyle::Member, 1, 1, only(Kind::Network), masked},
    Function{"prefixLength", CallStyle::Member, 1, 1, only(Kind::Int), prefix_length},
};

} // namespace

std::span<const Function> network_functions() {
    return network_table;
}

} // namespace sluice::expr::cel::runtime
