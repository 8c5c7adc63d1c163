#pragma once

#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"
#include "event/codec.h"
#include "event/event.h"
#include "event/source.h"
#include "server/documents.h"
#include "server/event_route.h"
#include "server/problem.h"
#include "server/quotas.h"
#include "trigger/history.h"

namespace sluice::server {

/// The event with the attribute `run`. Fails with InvalidInput when it names another one.
Result<event::Event> with_run(event::Codec& codec, const event::Event& event, std::string_view run);

/// What became of events that were taken, by the runs they went to.
struct Routed {
    struct Part {
        std::size_t event = 0; ///< Its place among those taken.
        std::string run;
        trigger::Fate fate{};
    };

    std::vector<Part> parts;
    std::size_t unrouted = 0;   ///< Events that no route took, and that were accepted all the same.
    std::optional<Value> reply; ///< Of a trigger, to the first event.
};

/// What keeps an event from its run; nothing when it was taken.
std::optional<Problem> problem_of(trigger::Fate fate);
/// What was not taken, by the event's place. A run that is not there is no problem for an event
/// that another one took.
std::vector<std::pair<std::size_t, Problem>> problems_of(const Routed& routed);

/// Finds the runs of events that name none, by the routes that people set up.
///
/// An event goes to every run that a route leads to, and to each of them once. May be used from any
/// thread.
class EventRouter {
public:
    static constexpr auto kind = std::string_view{"route"};

    struct Options {
        /// An event that no route takes is dropped and counted instead of refused.
        bool accepts_unrouted = false;
        const Quotas* quotas = nullptr; ///< Of runs that routes start, and of events; null: none.
    };
    using Done = std::move_only_function<void(std::expected<Routed, Problem>)>;

    /// Reads the routes. Engine and documents outlive it.
    static Result<std::unique_ptr<EventRouter>> open(engine::Engine& engine, Documents& documents,
                                                     Options options);

    /// Durable when it returns, and events that come from now on see it. InvalidInput for a route
    /// that is none.
    Result<void> put(std::string_view space, std::string_view name, const Value& form);
    Result<void> remove(std::string_view space, std::string_view name);
    /// After another process has changed routes of a namespace.
    Result<void> follow(std::string_view space);
    const Documents& documents() const { return documents_; }

    /// Where one route would send an event.
    struct Choice {
        const EventRoute* route = nullptr;
        std::optional<std::string> run; ///< Nothing: the event does not have the route's key.
    };
    /// What holds the routes of choices must be kept as long as they are.
    using Table = std::shared_ptr<const EventRouteTable>;
    Table table_of(std::string_view space) const;
    static std::vector<Choice> choices(const EventRouteTable& table, const event::Event& event);

    /// Takes events, whether they name their run or not: all of them or, where one is not valid or
    /// finds no run's name, none. Runs that a route starts are started before their event is sent.
    /// `done` hears when everything is durable; sending the same again changes nothing.
    void take(std::string space, std::vector<event::Event> events, Done done);
    /// Reads a source until it ends or is stopped, as `Engine::feed` does. Events that name no run
    /// go to this one, or by the routes where it is empty. Waits while a quota is used up.
    Result<std::uint64_t> feed(event::Source& source, const std::string& space,
                               const std::string& run, const std::stop_token& stop) const;
    /// What keeps a namespace from so many events from outside; nothing: they are counted.
    std::optional<Problem> refuse_events(std::string_view space, std::size_t count) const {
        return options_.quotas == nullptr ? std::nullopt
                                          : options_.quotas->refuse_events(space, count);
    }

private:
    EventRouter(engine::Engine& engine, Documents& documents, Options options)
        : engine_(engine), documents_(documents), options_(options) {}

    Result<void> rebuild(std::string_view space);

    engine::Engine& engine_;
    Documents& documents_;
    Options options_;
    std::mutex changing_;
    mutable std::mutex mutex_; ///< Of the map alone: tables are replaced, never changed.
    std::map<std::string, Table, std::less<>> tables_;
};

} // namespace sluice::server
