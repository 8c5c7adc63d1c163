#include "event/event_view.h"

#include "event/internal/lookup.h"

namespace sluice::event {

bool EventView::read_next() {
    if (has_all_) {
        return false;
    }
    auto& member = members_.emplace_back();
    if (!skimmer_.next_member(member.name)) {
        members_.pop_back();
        has_all_ = true;
        return false;
    }
    member.json = skimmer_.pass_value();
    return true;
}

bool EventView::is(const Member& member, std::string_view name) {
    return member.name.has_escape ? internal::text_of(member.name, unescaped_) == name
                                  : member.name.raw == name;
}

const EventView::Member* EventView::find(std::string_view name) {
    for (const auto& member : members_) {
        if (is(member, name)) {
            return &member;
        }
    }
    while (read_next()) {
        if (is(members_.back(), name)) {
            return &members_.back();
        }
    }
    return nullptr;
}

std::optional<Value> EventView::data_at(std::span<const std::string_view> path) {
    if (path.empty() || !is_object_) {
        return event_.data_at(path);
    }
    const auto* member = find(path.front());
    if (member == nullptr) {
        return std::nullopt;
    }
    if (path.size() == 1) {
        return internal::to_value(member->json);
    }
    auto found = internal::find_path(member->json, path.subspan(1));
    return found ? std::optional{internal::to_value(*found)} : std::nullopt;
}

std::optional<Value> EventView::at(std::span<const std::string_view> path) {
    auto rest = path.subspan(1);
    if (path.front() == "data") {
        return rest.empty() ? std::optional{event_.data()} : data_at(rest);
    }
    if (path.front() != "event") {
        return std::nullopt;
    }
    if (rest.empty()) {
        return event_.whole();
    }
    if (rest.front() == "data") {
        return data_at(rest.subspan(1));
    }
    return rest.size() == 1 ? event_.attribute(rest.front()) : std::nullopt;
}

} // namespace sluice::event
