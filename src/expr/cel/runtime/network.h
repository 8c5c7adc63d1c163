#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "expr/cel/runtime/cell.h"

namespace sluice::expr::cel::runtime {

/// `192.168.0.1`, `2001:db8::68`. Zones and IPv4 in dotted form within IPv6 are refused.
std::optional<Interval> read_address(std::string_view text);
/// `192.168.0.0/24`
std::optional<Interval> read_network(std::string_view text);
/// Of an Address or a Network, in canonical form.
std::string write_interval(const Cell& cell);

} // namespace sluice::expr::cel::runtime
