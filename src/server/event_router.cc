#include "server/event_router.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "engine/feed.h"
#include "value/json.h"

namespace sluice::server {

namespace {

using event::Event;

/// One event on its way to one run.
struct RoutedEvent {
    std::size_t place = 0;
    Event event;
    const EventRoute* route = nullptr; ///< Null: the event named its run.
};

/// Where a batch goes, before any of it does.
struct RoutingPlan {
    std::vector<RoutedEvent> events;
    std::size_t unrouted = 0;
};

Problem no_route(const Event& event, const std::vector<EventRouter::Choice>& choices) {
    auto problem = Problem{.status = 404, .code = "no_route"};
    if (choices.empty()) {
        problem.detail = fmt::format(
            "event {} names no run, and no route takes it: send the attribute run, or set up a "
            "route",
            event.id());
    } else {
        const auto& route = *choices.front().route;
        problem.detail = fmt::format("event {} has no {}, which the route {} takes its run from",
                                     event.id(), route.key->text(), route.name);
    }
    return problem;
}

/// Adds the event once for each run that its routes lead to.
Result<std::size_t> add_routed(event::Codec& codec, const Event& event, std::size_t place,
                               const std::vector<EventRouter::Choice>& choices,
                               std::vector<RoutedEvent>& planned) {
    auto first = planned.size();
    for (const auto& choice : choices) {
        if (!choice.run) {
            continue;
        }
        auto same =
            std::find_if(planned.begin() + static_cast<std::ptrdiff_t>(first), planned.end(),
                         [&](const auto& each) { return each.event.run() == *choice.run; });
        if (same == planned.end()) {
            planned.push_back({.place = place,
                               .event = TRY(with_run(codec, event, *choice.run)),
                               .route = choice.route});
        } else if (same->route->start == EventRoute::Start::Never) {
            same->route = choice.route;
        }
    }
    return planned.size() - first;
}

/// Starts runs and sends events, one step after the other. Its steps come on lanes' threads; no two
/// at once but those of `start`, which count.
class Routing : public std::enable_shared_from_this<Routing> {
public:
    Routing(engine::Engine& engine, const Quotas* quotas, std::string space, RoutingPlan plan,
            EventRouter::Table table, EventRouter::Done done)
        : engine_(engine),
          quotas_(quotas),
          space_(std::move(space)),
          plan_(std::move(plan)),
          table_(std::move(table)),
          done_(std::move(done)) {
        for (const auto& each : plan_.events) {
            routed_.parts.push_back({.event = each.place, .run = std::string{each.event.run()}});
        }
        routed_.unrouted = plan_.unrouted;
    }

    void begin() {
        auto all = std::vector<std::size_t>{};
        auto new_runs = std::vector<std::size_t>{};
        for (auto at = std::size_t{0}; at < plan_.events.size(); ++at) {
            all.push_back(at);
            const auto* route = plan_.events[at].route;
            // Where nobody hears that a run is missing, it is started first.
            auto is_first = route != nullptr &&
                            (route->start == EventRoute::Start::Always ||
                             (engine_.is_shared() && route->start != EventRoute::Start::Never));
            if (is_first) {
                new_runs.push_back(at);
            }
        }
        start(new_runs, [self = shared_from_this(), all] { self->send(all, Round::First); });
    }

private:
    enum class Round : std::uint8_t { First, AfterStart };

    void start(const std::vector<std::size_t>& places, std::function<void()> then) {
        auto requests = std::vector<engine::StartRequest>{};
        auto runs = std::set<std::string_view>{};
        for (auto at : places) {
            const auto& [place, event, route] = plan_.events[at];
            if (runs.insert(event.run()).second) {
                requests.push_back({.space = space_,
                                    .id = std::string{event.run()},
                                    .definition = route->definition,
                                    .input = route->input_of(event),
                                    .labels = route->labels});
            }
        }
        if (requests.empty()) {
            then();
            return;
        }
        if (auto problem = admit(requests.size())) {
            done_(std::unexpected(*std::move(problem)));
            return;
        }
        left_ = requests.size();
        then_ = std::move(then);
        for (const auto& request : requests) {
            engine_.start(request, [self = shared_from_this()](const Result<Value>& started) {
                self->count(started);
            });
        }
    }

    std::optional<Problem> admit(std::size_t runs) {
        for (auto at = std::size_t{0}; quotas_ != nullptr && at < runs; ++at) {
            auto ticket = quotas_->admit_start(space_);
            if (!ticket) {
                return ticket.error();
            }
            tickets_.push_back(*std::move(ticket));
        }
        return std::nullopt;
    }

    void count(const Result<Value>& started) {
        auto lock = std::unique_lock{mutex_};
        if (!started) {
            error_ = started.error();
        }
        if (--left_ > 0) {
            return;
        }
        auto error = error_;
        auto then = std::move(then_);
        lock.unlock();
        if (error) {
            done_(std::unexpected(problem_of(*error)));
        } else {
            then();
        }
    }

    void send(const std::vector<std::size_t>& places, Round round) {
        auto events = std::vector<Event>{};
        for (auto at : places) {
            events.push_back(plan_.events[at].event);
        }
        engine_.send(space_, std::move(events),
                     [self = shared_from_this(), places, round](const auto& receipt) {
                         self->take_receipt(places, round, receipt);
                     });
    }

    void take_receipt(const std::vector<std::size_t>& places, Round round,
                      const Result<engine::Receipt>& receipt) {
        if (!receipt) {
            done_(std::unexpected(problem_of(receipt.error())));
            return;
        }
        auto missing = std::vector<std::size_t>{};
        for (auto at = std::size_t{0}; at < places.size(); ++at) {
            auto fate = receipt->fates[at];
            routed_.parts[places[at]].fate = fate;
            const auto* route = plan_.events[places[at]].route;
            if (fate == trigger::Fate::NoSuchRun && route != nullptr &&
                route->start != EventRoute::Start::Never) {
                missing.push_back(places[at]);
            }
            const auto* reply = places[at] == 0 ? receipt->reply_to(at) : nullptr;
            if (reply != nullptr) {
                routed_.reply = *reply;
            }
        }
        // Most events find their run there, so starting it first would cost each a commit.
        if (round == Round::First && !missing.empty()) {
            start(missing,
                  [self = shared_from_this(), missing] { self->send(missing, Round::AfterStart); });
            return;
        }
        done_(std::move(routed_));
    }

    engine::Engine& engine_;
    const Quotas* quotas_;
    std::vector<Quotas::Ticket> tickets_; ///< Of the runs it starts, until all is done.
    std::string space_;
    RoutingPlan plan_;
    EventRouter::Table table_; ///< Holds the plan's routes.
    EventRouter::Done done_;
    Routed routed_;
    std::mutex mutex_;
    std::size_t left_ = 0;
    std::optional<Error> error_;
    std::function<void()> then_;
};

/// A definition that is missing refuses the batch before any of it is taken.
std::optional<Problem> missing_definition(engine::Engine& engine, std::string_view space,
                                          const std::vector<RoutedEvent>& events) {
    auto known = std::set<std::string_view>{};
    for (const auto& each : events) {
        if (each.route == nullptr || each.route->definition.empty() ||
            !known.insert(each.route->definition).second) {
            continue;
        }
        if (auto found = engine.catalog().find(space, each.route->definition); !found) {
            auto problem = problem_of(found.error());
            problem.detail = fmt::format("route {}: {}", each.route->name, problem.detail);
            return problem;
        }
    }
    return std::nullopt;
}

} // namespace

std::optional<Problem> problem_of(trigger::Fate fate) {
    switch (fate) {
        case trigger::Fate::NoSuchRun:
            return Problem{.status = 404, .code = "not_found", .detail = "there is no such run"};
        case trigger::Fate::Refused:
        case trigger::Fate::Busy:
            return Problem{.status = 429,
                           .code = "run_full",
                           .detail = "the run keeps as many events as it may",
                           .headers = {{"Retry-After", "1"}}};
        default: return std::nullopt;
    }
}

std::vector<std::pair<std::size_t, Problem>> problems_of(const Routed& routed) {
    auto taken = std::set<std::size_t>{};
    for (const auto& part : routed.parts) {
        if (part.fate != trigger::Fate::NoSuchRun) {
            taken.insert(part.event);
        }
    }
    auto problems = std::vector<std::pair<std::size_t, Problem>>{};
    for (const auto& part : routed.parts) {
        auto problem = problem_of(part.fate);
        if (problem && (problem->status != 404 || !taken.contains(part.event))) {
            problem->detail += ": " + part.run;
            problems.emplace_back(part.event, *std::move(problem));
        }
    }
    return problems;
}

Result<Event> with_run(event::Codec& codec, const Event& event, std::string_view run) {
    if (!event.run().empty()) {
        if (event.run() != run) {
            return fail(Errc::InvalidInput,
                        "event {} names the run {}, the path {}: send it to "
                        "/events",
                        event.id(), event.run(), run);
        }
        return event;
    }
    auto json = std::string{R"({"run":)"};
    value::write_json_string(run, json);
    json += ',';
    json += event.json().substr(1);
    return codec.parse(json);
}

Result<std::unique_ptr<EventRouter>> EventRouter::open(engine::Engine& engine, Documents& documents,
                                                       Options options) {
    auto router = std::unique_ptr<EventRouter>{new EventRouter{engine, documents, options}};
    auto spaces = std::set<std::string>{};
    for (const auto& document : documents.list(kind)) {
        spaces.insert(document.space);
    }
    for (const auto& space : spaces) {
        TRY(router->rebuild(space));
    }
    return router;
}

Result<void> EventRouter::put(std::string_view space, std::string_view name, const Value& form) {
    TRY(EventRoute::parse(name, form));
    auto lock = std::lock_guard{changing_};
    TRY(documents_.put(kind,
                       {.space = std::string{space}, .name = std::string{name}, .content = form}));
    return rebuild(space);
}

Result<void> EventRouter::remove(std::string_view space, std::string_view name) {
    auto lock = std::lock_guard{changing_};
    TRY(documents_.remove(kind, space, name));
    return rebuild(space);
}

Result<void> EventRouter::follow(std::string_view space) {
    auto lock = std::lock_guard{changing_};
    return rebuild(space);
}

Result<void> EventRouter::rebuild(std::string_view space) {
    auto routes = std::vector<std::shared_ptr<const EventRoute>>{};
    for (const auto& document : documents_.list(kind, space)) {
        auto route = EventRoute::parse(document.name, document.content);
        if (!route) {
            return fail(Errc::Corrupt, "the stored route {}: {}", document.name,
                        route.error().message);
        }
        routes.push_back(std::make_shared<const EventRoute>(*std::move(route)));
    }
    auto table = std::make_shared<const EventRouteTable>(std::move(routes));
    auto lock = std::lock_guard{mutex_};
    tables_.insert_or_assign(std::string{space}, std::move(table));
    return {};
}

EventRouter::Table EventRouter::table_of(std::string_view space) const {
    static const auto empty =
        std::make_shared<const EventRouteTable>(std::vector<std::shared_ptr<const EventRoute>>{});
    auto lock = std::lock_guard{mutex_};
    auto found = tables_.find(space);
    return found == tables_.end() ? empty : found->second;
}

std::vector<EventRouter::Choice> EventRouter::choices(const EventRouteTable& table,
                                                      const Event& event) {
    auto choices = std::vector<Choice>{};
    for (const auto* route : table.matching(event)) {
        choices.push_back({.route = route, .run = route->run_of(event)});
    }
    return choices;
}

void EventRouter::take(std::string space, std::vector<Event> events, Done done) {
    thread_local auto codec = event::Codec{};
    auto table = table_of(space);
    auto plan = RoutingPlan{};
    for (auto place = std::size_t{0}; place < events.size(); ++place) {
        auto& event = events[place];
        if (!event.run().empty()) {
            plan.events.push_back({.place = place, .event = std::move(event)});
            continue;
        }
        auto found = choices(*table, event);
        auto added = add_routed(codec, event, place, found, plan.events);
        if (!added) {
            done(std::unexpected(problem_of(added.error())));
            return;
        }
        if (*added == 0 && !options_.accepts_unrouted) {
            done(std::unexpected(no_route(event, found)));
            return;
        }
        plan.unrouted += *added == 0 ? 1 : 0;
    }
    for (const auto& each : plan.events) {
        if (auto checked = engine::check_event(each.event); !checked) {
            done(std::unexpected(problem_of(checked.error())));
            return;
        }
    }
    if (auto problem = missing_definition(engine_, space, plan.events)) {
        done(std::unexpected(*std::move(problem)));
        return;
    }
    std::make_shared<Routing>(engine_, options_.quotas, std::move(space), std::move(plan),
                              std::move(table), std::move(done))
        ->begin();
}

} // namespace sluice::server
