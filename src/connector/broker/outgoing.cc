#include "connector/broker/outgoing.h"

#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "value/json.h"

namespace sluice::connector::broker {

Result<event::Outgoing> outgoing_of(const event::Delivery& delivery, event::Codec& codec) {
    const auto& input = delivery.payload;
    if (!input.is_map() || input.find("type") == nullptr) {
        return fail(Errc::InvalidInput,
                    "the input is no event: write a map with type, and with subject, data and "
                    "other attributes as needed");
    }
    auto members = std::vector<value::Member>{
        {"specversion", "1.0"},
        {"id", delivery.key},
        {"source", fmt::format("/namespaces/{}/runs/{}", delivery.space, delivery.run)}};
    // What one run sends stays in order, where a bus has partitions.
    members.push_back({"partitionkey", delivery.run});
    if (!delivery.trace.empty()) {
        members.push_back({"traceparent", delivery.trace});
    }
    auto attributes = Value::map(std::move(members));
    for (const auto& [name, value] : input.as_map()) {
        // An expression that came to nothing leaves an attribute out; of data, null is a value.
        if (!value.is_null() || name == "data") {
            attributes = attributes.with(name, value);
        }
    }
    auto json = value::to_json(attributes);
    std::ignore = TRY(codec.parse(json));
    return event::Outgoing{.to = {}, .key = delivery.key, .json = std::move(json)};
}

} // namespace sluice::connector::broker
