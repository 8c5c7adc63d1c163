#include "event/event_view.h"

#include "base/invariant.h"
#include "event/internal/lookup.h"

namespace sluice::event {

using internal::Scanner;

void EventView::read_members() {
    constexpr auto members_usual = std::size_t{32};
    is_read_ = true;
    auto json = event_.data_json();
    is_object_ = json.starts_with('{');
    if (!is_object_) {
        return;
    }
    members_.reserve(members_usual);
    auto scanner = Scanner{json};
    auto name = Scanner::String{};
    for (auto is_first = true; scanner.next_member(is_first, name) == Scanner::Step::Item;
         is_first = false) {
        const auto* begin = scanner.position();
        auto is_passed = scanner.skip_value(internal::depth_max_hard);
        INVARIANT(is_passed, "the text of an event was validated when it came in");
        auto size = static_cast<std::size_t>(scanner.position() - begin);
        members_.push_back({name.raw, {begin, size}, name.has_escape});
    }
}

/// Of repeated names the last stands.
const EventView::Member* EventView::find(std::string_view name) {
    for (auto at = members_.size(); at > 0; --at) {
        const auto& member = members_[at - 1];
        auto text = member.has_escape
                        ? internal::text_of({.raw = member.name, .has_escape = true}, unescaped_)
                        : member.name;
        if (text == name) {
            return &member;
        }
    }
    return nullptr;
}

std::optional<Value> EventView::data_at(std::span<const std::string_view> path) {
    if (!is_read_) {
        read_members();
    }
    if (!is_object_ || path.empty()) {
        return event_.data_at(path);
    }
    const auto* member = find(path.front());
    auto found = member == nullptr  ? std::nullopt
                 : path.size() == 1 ? std::optional{member->json}
                                    : internal::find_path(member->json, path.subspan(1));
    return found ? std::optional{internal::to_value(*found)} : std::nullopt;
}

} // namespace sluice::event
