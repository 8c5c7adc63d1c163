#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/inspector.h"
#include "server/intake/backfill.h"
#include "server/intake/intake.h"
#include "value/wording.h"

namespace sluice::server::intake {

namespace {

constexpr auto times_shown = std::size_t{20};

Value view_of(const Backfill& backfill) {
    auto first = std::vector<Value>{};
    for (auto at = std::size_t{0}; at < std::min(backfill.times.size(), times_shown); ++at) {
        first.push_back(Value::object(
            {{"time", backfill.times[at]}, {"run", backfill.run_of(backfill.times[at])}}));
    }
    return Value::object({{"run", backfill.id},
                          {"definition", backfill.definition},
                          {"times", value::number(backfill.times.size())},
                          {"from", backfill.times.front()},
                          {"to", backfill.times.back()},
                          {"limit", backfill.limit},
                          {"first", Value::list(std::move(first))}});
}

/// The definition that backfills with this limit are runs of.
Result<std::string> deploy(const Services& services, const std::string& space,
                           const Backfill& backfill) {
    auto compiled = services.compile(backfill.definition_text(), "backfill");
    if (!compiled) {
        return fail(Errc::Internal, "the definition of a backfill does not compile");
    }
    return services.engine.catalog().add(space, compiled->back());
}

/// One that had failed goes on with what failed.
void go_on(const Services& services, const engine::RunName& run, const Value& view,
           const Reply& reply) {
    auto read = [](const trigger::RunState* state) -> Result<Value> {
        auto status = state == nullptr ? trigger::Status::Running : state->progress.status;
        auto has_ended = state != nullptr && state->has_ended();
        return Value{has_ended && status != trigger::Status::Succeeded};
    };
    services.engine.query(run, read, [&services, run, view, reply](const Result<Value>& ended) {
        if (!ended || !ended->as_bool()) {
            answer(reply, 200, view.with("existing", true));
            return;
        }
        services.engine.reopen(run, Value::object({{"task", Backfill::task}}),
                               [view, reply](const Result<Value>& reopened) {
                                   if (reopened) {
                                       answer(reply, 200, view.with("existing", true));
                                   } else {
                                       answer(reply, problem_of(reopened.error()));
                                   }
                               });
    });
}

Result<Backfill> read_backfill(const Schedules& schedules, const Incoming& incoming) {
    return Backfill::parse(TRY(incoming.json()), schedules.list(incoming.space));
}

/// The same request again is the same backfill.
void start_backfill(const Services& services, const Schedules& schedules, const Incoming& incoming,
                    const Reply& reply) {
    auto backfill = read_backfill(schedules, incoming);
    const auto* dry_run = incoming.query("dry_run");
    if (!backfill) {
        answer(reply, problem_of(backfill.error()));
        return;
    }
    auto view = view_of(*backfill);
    auto& catalog = services.engine.catalog();
    if (auto known = catalog.find(incoming.space, backfill->definition); !known) {
        answer(reply, problem_of(known.error()));
        return;
    }
    if (dry_run != nullptr && *dry_run == "true") {
        answer(reply, 200, view);
        return;
    }
    auto version = deploy(services, incoming.space, *backfill);
    if (!version) {
        answer(reply, problem_of(version.error()));
        return;
    }
    auto admitted = services.admit_start(incoming.space);
    if (!admitted) {
        answer(reply, admitted.error());
        return;
    }
    auto run = engine::RunName{.space = incoming.space, .id = backfill->id};
    services.engine.start(
        {.space = run.space,
         .id = run.id,
         .definition = "sluice.backfill",
         .version = *version,
         .input = backfill->run_input(),
         .labels = Value::object({{"backfill", backfill->definition}})},
        [&services, run, view, reply, ticket = *admitted](const Result<Value>& started) {
            if (!started) {
                answer(reply, problem_of(started.error()));
            } else if (*started->find("existing") == Value{true}) {
                go_on(services, run, view, reply);
            } else {
                answer(reply, 201, view.with("existing", false));
            }
        });
}

/// What has become of the runs for its times.
Result<Value> progress_of(const Services& services, const engine::RunName& run) {
    auto inspector = engine::Inspector{services.store, services.vocabulary};
    auto state = TRY(inspector.run(run));
    const auto* times = state->info.input.find("times");
    if (state->info.definition != "sluice.backfill" || times == nullptr || !times->is_list()) {
        return fail(Errc::NotFound, "there is no backfill \"{}\"", run.id);
    }
    auto counts = std::map<std::string, std::uint64_t>{};
    auto started = std::uint64_t{0};
    for (const auto& each : times->as_list()) {
        auto id = std::string{each.find("run")->as_string()};
        if (auto progress = TRY(inspector.progress({.space = run.space, .id = id}))) {
            ++started;
            ++counts[std::string{to_string(progress->status)}];
        }
    }
    auto view = Value::object({{"run", run.id},
                               {"status", to_string(state->progress.status)},
                               {"error", state->progress.error},
                               {"times", value::number(times->size())},
                               {"started", value::number(started)}});
    auto by_status = Value::map({});
    for (const auto& [status, count] : counts) {
        by_status = by_status.with(status, value::number(count));
    }
    return view.with("runs", by_status);
}

} // namespace

void add_backfill_routes(RouteTable& routes, const Services& services, Schedules& schedules) {
    routes.add(
        {http::Method::Post,
         "/v1/backfills",
         {Role::Operator, true},
         on_worker(services, [&services, &schedules](const Incoming& incoming, const Reply& reply) {
             start_backfill(services, schedules, incoming, reply);
         })});
    routes.add({http::Method::Get,
                "/v1/backfills/{run}",
                {Role::Reader, true},
                [&services](const Incoming& incoming, const Reply& reply) {
                    auto run = engine::RunName{.space = incoming.space, .id = incoming.part("run")};
                    answer_from_worker(services, reply,
                                       [&services, run] { return progress_of(services, run); });
                }});
}

} // namespace sluice::server::intake
