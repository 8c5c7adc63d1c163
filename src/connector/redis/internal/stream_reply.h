#pragma once

#include "resp/reply.h"

namespace sluice::connector::redis::internal {

/// Calls with the name and the entries of each stream in the reply to XREAD or XREADGROUP: a map,
/// or before RESP3 a list of pairs.
template <typename Each>
void for_each_stream(const resp::Reply& reply, Each each) {
    if (reply.kind() == resp::Kind::Map) {
        resp::for_each_pair(reply, [&](const resp::Reply& name, const resp::Reply& entries) {
            each(name.text(), entries);
        });
        return;
    }
    for (const auto& pair : reply) {
        each(pair.item(0).text(), pair.item(1));
    }
}

/// The value behind a name in a reply that is a map, or before RESP3 a list.
inline resp::Reply member(const resp::Reply& map, std::string_view name) {
    auto found = map.item(map.size());
    resp::for_each_pair(map, [&](const resp::Reply& each, const resp::Reply& value) {
        if (each.text() == name) {
            found = value;
        }
    });
    return found;
}

} // namespace sluice::connector::redis::internal
