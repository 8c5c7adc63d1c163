#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <boost/container/small_vector.hpp>

#include "event/event.h"
#include "event/internal/scanner.h"

namespace sluice::event {

/// An event that is asked several questions: its data is gone through at most once however many
/// paths are looked for, and no further than what was asked for stands. Of one thread; the event
/// must outlive it.
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

    bool is(const Member& member, std::string_view name);
    /// False when there is none.
    bool read_next();
    const Member* find(std::string_view name);

    const Event& event_;
    std::optional<internal::Scanner> scanner_;          ///< Behind the members that were read.
    boost::container::small_vector<Member, 8> members_; ///< Of the data, when that is an object.
    std::string unescaped_;
    bool has_all_ = false;
};

} // namespace sluice::event
