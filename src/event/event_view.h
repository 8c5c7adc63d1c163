#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <boost/container/small_vector.hpp>

#include "event/event.h"
#include "event/internal/scanner.h"
#include "event/internal/skimmer.h"

namespace sluice::event {

/// An event that is asked several questions: its data is gone through at most once however many
/// paths are looked for, and no further than what was asked for stands. Of one thread; the event
/// must outlive it.
class EventView {
public:
    explicit EventView(const Event& event)
        : event_{event},
          skimmer_{event.data_json()},
          is_object_{event.data_json().starts_with('{')} {}

    const Event& event() const { return event_; }
    /// As Event::data_at.
    std::optional<Value> data_at(std::span<const std::string_view> path);
    /// What a path stands for in expressions: `event` has the attributes and `data`, and `data` is
    /// a name of its own, Null where there is none. Nothing when it is not there.
    std::optional<Value> at(std::span<const std::string_view> path);

private:
    struct Member {
        internal::Scanner::String name;
        std::string_view json;
    };

    bool is(const Member& member, std::string_view name);
    /// False when there is none.
    bool read_next();
    const Member* find(std::string_view name);

    const Event& event_;
    internal::Skimmer skimmer_;                         ///< Behind the members that were read.
    boost::container::small_vector<Member, 8> members_; ///< Of the data, when that is an object.
    std::string unescaped_;
    bool is_object_; ///< The data is one.
    bool has_all_ = false;
};

} // namespace sluice::event
