#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "event/event.h"

namespace sluice::event {

/// An event that is asked several questions: its data is gone through once, whatever many paths
/// are looked for. Of one thread; the event must outlive it.
class EventView {
public:
    explicit EventView(const Event& event) : event_{event} {}

    const Event& event() const { return event_; }
    std::optional<Value> attribute(std::string_view name) const { return event_.attribute(name); }
    /// As Event::data_at.
    std::optional<Value> data_at(std::span<const std::string_view> path);

private:
    struct Member {
        std::string_view name; ///< As it stands between the quotes.
        std::string_view json;
        bool has_escape = false;
    };

    void read_members();
    const Member* find(std::string_view name);

    const Event& event_;
    std::vector<Member> members_; ///< Of the data, when that is an object.
    std::string unescaped_;
    bool is_read_ = false;
    bool is_object_ = false;
};

} // namespace sluice::event
