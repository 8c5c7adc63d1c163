#pragma once

#include <string>
#include <string_view>

#include "cluster/seal.h"
#include "engine/input.h"
#include "event/event.h"

namespace sluice::cluster {

/// The type of an event on the bus that carries what one shard tells another.
inline constexpr auto message_type = std::string_view{"sluice.message"};
/// The attribute of an event on the bus that names its namespace; without it: `default`.
inline constexpr auto space_attribute = std::string_view{"namespace"};

/// A message or confirmation between shards, sealed, as an event.
std::string to_bus_json(const engine::Input& input, const Seal& seal);
/// What such an event carries. Fails when it was not sealed with our secret.
Result<engine::Input> read_message(const event::Event& event, const Seal& seal);

/// An event of a namespace as it travels on the bus.
std::string to_bus_json(const event::Event& event, std::string_view space);

} // namespace sluice::cluster
