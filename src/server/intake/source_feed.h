#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "event/event.h"
#include "server/documents.h"
#include "server/event_router.h"
#include "server/problem.h"
#include "value/value.h"

namespace sluice::server::intake {

/// What a source brings events to: the run that it was set up for, or the routes. Keeps how far it
/// has come, and what people may want to know of it. Shared; may be used from any thread.
class SourceFeed : public std::enable_shared_from_this<SourceFeed> {
public:
    static constexpr auto state_kind = std::string_view{"source_state"};

    /// An empty run stands for the routes.
    SourceFeed(std::string space, std::string name, std::string run, EventRouter& router,
               Documents& documents, const Clock& clock);

    const std::string& name() const { return name_; }
    /// With its namespace.
    const std::string& space() const { return space_; }
    std::string full_name() const { return space_ + "/" + name_; }

    /// Durable when `done` hears of it. What goes beyond the namespace's quota is refused with 429:
    /// whoever brings it brings it again.
    void deliver(std::vector<event::Event> events,
                 std::move_only_function<void(std::optional<Problem>)> done);
    /// The same, waiting for it.
    std::optional<Problem> deliver_and_wait(event::Event event);

    /// Reads a source that has positions of its own, until it ends or is stopped.
    Result<std::uint64_t> read_all(event::Source& source, const std::stop_token& stop);
    /// So many have come, and this many more wait; what keeps them away, empty: nothing.
    void note_read(std::size_t events, std::optional<std::uint64_t> lag, std::string trouble);

    /// How far the source has come: whatever it kept last; null at first.
    Value position() const;
    Result<void> keep_position(const Value& position);

    /// What went wrong; empty once it is over.
    void note_error(std::string error);
    /// `{events, last_event, lag, error}`
    Value status() const;

private:
    void count(std::size_t events, const std::optional<Problem>& problem);

    std::string space_;
    std::string name_;
    std::string run_;
    EventRouter& router_;
    Documents& documents_;
    const Clock& clock_;
    mutable std::mutex mutex_;
    std::uint64_t events_ = 0;
    std::optional<Time> last_event_;
    std::string error_;
    std::optional<std::uint64_t> lag_; ///< Events that wait, where that is known.
};

} // namespace sluice::server::intake
