#include <optional>
#include <utility>

#include <fmt/format.h>

#include "engine/quarantine.h"
#include "server/inspect/explanation.h"
#include "server/inspect/history_view.h"
#include "server/inspect/narrator.h"
#include "server/internal/requests.h"
#include "server/services.h"
#include "value/json.h"
#include "value/wording.h"

// What happened to a run, and why. All of it is read from the store, so on a worker.
namespace sluice::server {

namespace {

using inspect::EntryDetail;
using value::number;

engine::Inspector inspector_of(const Services& services) {
    return {services.store, services.vocabulary};
}

Value steps_view(const engine::RunName& run, const std::vector<inspect::Step>& steps) {
    auto items = std::vector<Value>{};
    for (const auto& step : steps) {
        items.push_back(to_value(step));
    }
    return Value::object({{"run", run.id}, {"steps", Value::list(std::move(items))}});
}

struct HistoryQuery {
    engine::RunName run;
    trigger::EventNumber from{1};
    std::size_t limit = 0;
    EntryDetail detail = EntryDetail::Event;
    bool is_told = false; ///< With sentences that say what followed.
    std::string id;       ///< Of one event; empty: a page of all.
    std::string source;
};

Result<HistoryQuery> read_history_query(const Incoming& incoming) {
    TRY(check_query(incoming, {"from", "limit", "changes", "told", "id", "source"}));
    auto query = HistoryQuery{.run = name_of(incoming), .id = {}, .source = {}};
    query.from = trigger::EventNumber{TRY(read_number(incoming, "from")).value_or(1)};
    query.limit = TRY(read_limit(incoming));
    query.detail = TRY(read_flag(incoming, "changes")) ? EntryDetail::Changes : EntryDetail::Event;
    query.is_told = TRY(read_flag(incoming, "told"));
    const auto* id = incoming.query("id");
    const auto* source = incoming.query("source");
    if (source != nullptr && id == nullptr) {
        return fail(Errc::InvalidInput, "source goes with id: together they name an event");
    }
    query.id = id == nullptr ? "" : *id;
    query.source = source == nullptr ? "" : *source;
    return query;
}

Result<Value> history_page(const Services& services, const HistoryQuery& query) {
    auto inspector = inspector_of(services);
    TRY(inspector.run(query.run));
    if (!query.id.empty()) {
        return steps_view(
            query.run, TRY(inspect::explain_event(inspector, query.run, query.id, query.source)));
    }
    auto events = std::vector<Value>{};
    auto next = Value{};
    auto narrator = inspect::Narrator{TRY(inspector.trigger_names(query.run))};
    auto tell = [&](const trigger::Entry& entry) {
        if (query.is_told) {
            narrator.note(entry);
        }
        if (entry.number < query.from) {
            return true;
        }
        if (events.size() == query.limit) {
            next = value::number(entry.number.raw());
            return false;
        }
        auto view = entry_view(entry, query.detail);
        events.push_back(
            query.is_told ? view.with("then", value::texts(narrator.consequences(entry))) : view);
        return true;
    };
    // What follows from an event is told by what came before it.
    TRY(inspector.read_history(query.run, tell,
                               query.is_told ? trigger::EventNumber{1} : query.from));
    return Value::object({{"events", Value::list(std::move(events))}, {"next", next}});
}

void answer_history(const Services& services, const Incoming& incoming, const Reply& reply) {
    auto query = read_history_query(incoming);
    if (!query) {
        answer(reply, problem_of(query.error()));
        return;
    }
    answer_from_worker(services, reply, [&services, query = *std::move(query)] {
        return history_page(services, query);
    });
}

/// As it stands in history, and in sentences.
Result<Value> one_event(const Services& services, const engine::RunName& run,
                        const std::string& text) {
    auto inspector = inspector_of(services);
    TRY(inspector.run(run));
    auto steps = TRY(inspect::explain_event(inspector, run, "#" + text));
    for (const auto& step : steps) {
        if (fmt::format("{}", step.entry.number.raw()) == text) {
            return inspect::entry_view(step.entry, EntryDetail::Changes)
                .with("steps", *steps_view(run, steps).find("steps"));
        }
    }
    return fail(Errc::NotFound, "run \"{}\" has no event #{}", run.id, text);
}

void answer_event(const Services& services, const Incoming& incoming, const Reply& reply) {
    if (auto known = check_query(incoming, {}); !known) {
        answer(reply, problem_of(known.error()));
        return;
    }
    answer_from_worker(services, reply,
                       [&services, run = name_of(incoming), event = incoming.part("event")] {
                           return one_event(services, run, event);
                       });
}

Result<Value> explain(const Services& services, const engine::RunName& run,
                      const std::string& event, const std::string& trigger) {
    auto inspector = inspector_of(services);
    TRY(inspector.run(run));
    if (!event.empty()) {
        return steps_view(run, TRY(inspect::explain_event(inspector, run, event)));
    }
    if (!trigger.empty()) {
        return to_value(TRY(inspect::explain_trigger(inspector, run, trigger)));
    }
    return to_value(TRY(inspect::explain_run(inspector, run)));
}

void answer_why(const Services& services, const Incoming& incoming, const Reply& reply) {
    if (auto known = check_query(incoming, {"event", "trigger"}); !known) {
        answer(reply, problem_of(known.error()));
        return;
    }
    auto text = [&](std::string_view name) {
        const auto* given = incoming.query(name);
        return given == nullptr ? std::string{} : *given;
    };
    answer_from_worker(
        services, reply,
        [&services, run = name_of(incoming), event = text("event"), trigger = text("trigger")] {
            return explain(services, run, event, trigger);
        });
}

/// Decides the history again, which takes as long as it is.
void answer_replay(const Services& services, const Incoming& incoming, const Reply& reply) {
    auto known = check_query(incoming, {"from"});
    auto from = known ? read_number(incoming, "from")
                      : Result<std::optional<std::uint64_t>>{std::unexpected(known.error())};
    if (!from) {
        answer(reply, problem_of(from.error()));
        return;
    }
    answer_from_worker(
        services, reply,
        [&services, run = name_of(incoming), from = from->value_or(0)]() -> Result<Value> {
            auto inspector = inspector_of(services);
            return inspect::replay_view(
                TRY(engine::replay(inspector, run, services.limits, trigger::EventNumber{from})));
        });
}

Result<Value> quarantine(const Services& services, std::size_t limit) {
    auto items = std::vector<Value>{};
    for (const auto& each : TRY(engine::read_quarantine(services.store, limit))) {
        auto event = value::parse_json(each.json);
        items.push_back(Value::object({{"since", each.since},
                                       {"namespace", each.space},
                                       {"run", each.run},
                                       {"source", each.partition},
                                       {"number", value::number(each.number)},
                                       {"reason", engine::reason_of(each)},
                                       {"event", event ? *event : Value{each.json}}}));
    }
    return Value::object({{"events", Value::list(std::move(items))}});
}

void answer_quarantine(const Services& services, const Incoming& incoming, const Reply& reply) {
    auto known = check_query(incoming, {"limit"});
    auto limit = known ? read_limit(incoming) : Result<std::size_t>{std::unexpected(known.error())};
    if (!limit) {
        answer(reply, problem_of(limit.error()));
        return;
    }
    answer_from_worker(services, reply,
                       [&services, limit = *limit] { return quarantine(services, limit); });
}

} // namespace

void add_run_history_routes(RouteTable& routes, const Services& services) {
    constexpr auto reads = Policy{Role::Reader, true};
    auto add = [&](const char* pattern, Policy policy,
                   void (*handle)(const Services&, const Incoming&, const Reply&)) {
        routes.add({http::Method::Get, pattern, policy,
                    [&services, handle](const Incoming& incoming, const Reply& reply) {
                        handle(services, incoming, reply);
                    }});
    };
    add("/v1/runs/{run}/events", reads, answer_history);
    add("/v1/runs/{run}/events/{event}", reads, answer_event);
    add("/v1/runs/{run}/why", reads, answer_why);
    add("/v1/runs/{run}/replay", reads, answer_replay);
    // Events that no run was there for are of all namespaces.
    add("/v1/quarantine", {Role::Reader, false}, answer_quarantine);
}

} // namespace sluice::server
