#include "event/dialect/event_bindings.h"

#include <utility>

namespace sluice::event {
namespace {

std::optional<Value> find_data(EventView& view, std::span<const std::string_view> path) {
    if (!view.event().has_data()) {
        return std::nullopt;
    }
    return path.empty() ? std::optional{view.event().data()} : view.data_at(path);
}

} // namespace

std::optional<Value> EventBindings::resolve(std::span<const std::string_view> path) const {
    const auto& event = view_.event();
    auto rest = path.subspan(1);
    if (path.front() == "data") {
        return find_data(view_, rest);
    }
    if (path.front() != "event") {
        return std::nullopt;
    }
    if (rest.empty()) {
        auto members = event.attributes();
        if (event.has_data()) {
            members.push_back({"data", event.data()});
        }
        return Value::map(std::move(members));
    }
    if (rest.front() == "data") {
        return find_data(view_, rest.subspan(1));
    }
    return rest.size() == 1 ? event.attribute(rest.front()) : std::nullopt;
}

} // namespace sluice::event
