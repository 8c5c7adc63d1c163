#include "event/dialect/event_bindings.h"

#include <utility>

namespace sluice::event {

std::optional<Value> EventBindings::resolve(std::span<const std::string_view> path) const {
    auto rest = path.subspan(1);
    if (path.front() == "data") {
        return data_at(rest);
    }
    if (path.front() != "event") {
        return std::nullopt;
    }
    if (rest.empty()) {
        auto members = event_.attributes();
        if (event_.has_data()) {
            members.push_back({"data", event_.data()});
        }
        return Value::map(std::move(members));
    }
    if (rest.front() == "data") {
        return data_at(rest.subspan(1));
    }
    return rest.size() == 1 ? event_.attribute(rest.front()) : std::nullopt;
}

std::optional<Value> EventBindings::data_at(std::span<const std::string_view> path) const {
    if (!event_.has_data()) {
        return std::nullopt;
    }
    return path.empty() ? std::optional{event_.data()} : event_.data_at(path);
}

} // namespace sluice::event
