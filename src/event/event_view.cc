#include "event/event_view.h"

#include "base/invariant.h"
#include "event/internal/lookup.h"

namespace sluice::event {

using internal::Scanner;

bool EventView::read_next() {
    auto is_first = members_.empty();
    auto name = Scanner::String{};
    if (has_all_ || scanner_->next_member(is_first, name) != Scanner::Step::Item) {
        has_all_ = true;
        return false;
    }
    const auto* begin = scanner_->position();
    auto is_passed = scanner_->skip_value(internal::depth_max_hard);
    INVARIANT(is_passed, "the text of an event was validated when it came in");
    auto size = static_cast<std::size_t>(scanner_->position() - begin);
    members_.push_back({name.raw, {begin, size}, name.has_escape});
    return true;
}

bool EventView::is(const Member& member, std::string_view name) {
    return member.has_escape
               ? internal::text_of({.raw = member.name, .has_escape = true}, unescaped_) == name
               : member.name == name;
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
    auto json = event_.data_json();
    if (!json.starts_with('{') || path.empty()) {
        return event_.data_at(path);
    }
    if (!scanner_) {
        scanner_.emplace(json);
    }
    const auto* member = find(path.front());
    auto found = member == nullptr  ? std::nullopt
                 : path.size() == 1 ? std::optional{member->json}
                                    : internal::find_path(member->json, path.subspan(1));
    return found ? std::optional{internal::to_value(*found)} : std::nullopt;
}

} // namespace sluice::event
