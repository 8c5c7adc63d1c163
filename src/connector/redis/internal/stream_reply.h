#pragma once

#include "resp/reply.h"

namespace sluice::connector::redis::internal {

/// Calls with the name and the entries of each stream in the reply to XREAD or XREADGROUP: a map,
/// or before RESP3 a list of pairs.
template <typename Each>
void for_each_stream(const resp::Reply& reply, Each each) {
    if (reply.kind() == resp::Kind::Map) {
        for (auto at = reply.begin(); at != reply.end(); ++at) {
            auto name = at->text();
            ++at;
            each(name, *at);
        }
        return;
    }
    for (const auto& pair : reply) {
        each(pair.item(0).text(), pair.item(1));
    }
}

/// The value behind a name in a reply that is a map, or before RESP3 a list.
inline resp::Reply member(const resp::Reply& map, std::string_view name) {
    for (auto at = map.begin(); at != map.end(); ++at) {
        auto is_it = at->text() == name;
        ++at;
        if (is_it) {
            return *at;
        }
    }
    return map.item(map.size());
}

} // namespace sluice::connector::redis::internal
