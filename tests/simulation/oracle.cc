#include "oracle.h"

#include <utility>

#include "engine/feed.h"
#include "engine/outbox.h"
#include "engine/quarantine.h"
#include "engine/run_records.h"
#include "trigger/apply.h"
#include "trigger/testing/state_bytes.h"
#include "value/json.h"

namespace sluice::simulation {

namespace {

std::uint64_t number_at(const store::Store& store, const std::string& key) {
    auto value = store.get(key);
    if (!value || !*value) {
        return 0;
    }
    return engine::read_number(**value).value_or(0);
}

/// The first line in which two texts differ.
std::string difference(const std::string& left, const std::string& right) {
    auto line_at = [](const std::string& text, std::size_t at) {
        auto from = text.rfind('\n', at);
        from = from == std::string::npos ? 0 : from + 1;
        return text.substr(from, text.find('\n', at) - from);
    };
    auto at = std::size_t{0};
    while (at < left.size() && at < right.size() && left[at] == right[at]) {
        ++at;
    }
    return fmt::format("found \"{}\", expected \"{}\"", line_at(left, at), line_at(right, at));
}

} // namespace

Oracle::Oracle(store::Store& store, const std::vector<RunPlan>& plans, const Clients& clients,
               const Functions& functions, const Bus& bus, const trigger::DecideLimits& limits)
    : store_(store),
      inspector_(store, vocabulary_),
      plans_(plans),
      clients_(clients),
      functions_(functions),
      bus_(bus),
      limits_(limits) {}

std::vector<std::string> Oracle::check() {
    auto runs = inspector_.list({.most = 1'000'000});
    if (!runs) {
        blame("the runs cannot be listed: {}", runs.error().message);
        return std::move(found_);
    }
    for (const auto& [run, summary] : runs->runs) {
        check_run(run);
        auto state = inspector_.run(run);
        if (state && (*state)->progress.status != summary.status) {
            blame("run {} is listed as {}", run.id, to_string(summary.status));
        }
    }
    rivals_.clear();
    for (const auto& plan : plans_) {
        check_plan(plan);
    }
    for (const auto& [definition, newest] : rivals_) {
        if (definition == "first" ? !newest.has_any_won : !newest.has_won) {
            blame("of the runs of {} the one that should have gone on to its end did not",
                  definition);
        }
    }
    auto standing = inspector_.list({.listed = engine::RunsListed::Standing, .most = 1'000});
    for (const auto& [run, summary] :
         standing ? standing->runs : std::vector<engine::ListedRun>{}) {
        check_standing(run);
    }
    check_acknowledged();
    check_bus();
    for (auto shard = std::uint16_t{0}; shard < store_.shard_count(); ++shard) {
        check_outbox(ShardId{shard});
    }
    if (clients_.open_requests() > 0) {
        blame("{} requests were never acknowledged", clients_.open_requests());
    }
    return std::move(found_);
}

void Oracle::check_plan(const RunPlan& plan) {
    auto state = inspector_.run({.id = plan.id});
    if (!state) {
        blame("run {} of {} is not there: {}", plan.id, plan.definition, state.error().message);
        return;
    }
    const auto& progress = (*state)->progress;
    if (!plan.gives_way_as.empty() && gave_way(plan, **state)) {
        return;
    }
    if (progress.status != plan.status) {
        blame("run {} of {} is {}, expected {}; its error is {}", plan.id, plan.definition,
              to_string(progress.status), to_string(plan.status), value::to_json(progress.error));
    }
    if (progress.result != plan.result) {
        blame("run {} of {} gave {}, expected {}", plan.id, plan.definition,
              value::to_json(progress.result), value::to_json(plan.result));
    }
    for (auto index = std::uint64_t{0}; index < plan.noted; ++index) {
        auto key = fmt::format("{}/1/{}", plan.id, index);
        if (!functions_.effects().contains(key)) {
            blame("run {} sent {} to a sink, which never got it", plan.id, key);
        }
    }
    auto names = inspector_.trigger_names({.id = plan.id});
    check_run({.id = plan.id});
    auto fires = std::map<std::string, std::uint64_t>{};
    for (const auto& [trigger, count] : fires_of_) {
        fires[(*names)(trigger::TriggerNumber{trigger})] = count;
    }
    for (const auto& [id, count] : plan.fires) {
        if (fires[id] != count) {
            blame("trigger {} of run {} of {} fired {} times, expected {}", id, plan.id,
                  plan.definition, fires[id], count);
        }
    }
}

/// Whether it was cancelled for another of its definition; notes whether it was not.
bool Oracle::gave_way(const RunPlan& plan, const trigger::RunState& state) {
    auto& newest = rivals_[plan.definition];
    auto has_won = state.progress.status == trigger::Status::Succeeded;
    if (state.info.started > newest.started) {
        newest = {.started = state.info.started, .has_any_won = newest.has_any_won};
    }
    newest.has_won |= has_won && state.info.started == newest.started;
    newest.has_any_won |= has_won;
    const auto* kind = state.progress.error.find("kind");
    return state.progress.status == trigger::Status::Cancelled && kind != nullptr &&
           *kind == Value{plan.gives_way_as};
}

/// Places are given to as many runs as may have one, and are all given back.
void Oracle::check_standing(const engine::RunName& run) {
    check_run(run);
    auto most = run.id == "definition/redone" ? 2 : 1;
    auto running = 0;
    auto read = inspector_.read_history(run, [&](const trigger::Entry& entry) {
        for (const auto& change : entry.changes) {
            const auto* opened = std::get_if<trigger::ScopeOpened>(&change);
            const auto* closed = std::get_if<trigger::ScopeClosed>(&change);
            running += opened != nullptr && opened->path.starts_with("running/") ? 1 : 0;
            running -= closed != nullptr && closed->path.starts_with("running/") ? 1 : 0;
        }
        if (running > most) {
            blame("{} gave {} places at event {}", run.id, running, entry.number.raw());
        }
        return true;
    });
    if (!read || running != 0) {
        blame("{} places of {} were not given back", running, run.id);
    }
}

void Oracle::check_run(const engine::RunName& run) {
    auto entries = std::vector<trigger::Entry>{};
    auto read = inspector_.read_history(run, [&](const trigger::Entry& entry) {
        entries.push_back(entry);
        return true;
    });
    auto state = inspector_.run(run);
    if (!read || !state) {
        blame("run {} cannot be read: {}", run.id,
              read ? state.error().message : read.error().message);
        return;
    }
    check_entries(run, entries);
    if (!(*state)->has_ended() && !trigger::is_standing_run_id(run.id)) {
        blame("run {} of {} has not ended: {} tasks, {} timers, {} kept, {} queued, {} continued",
              run.id, (*state)->info.definition, (*state)->tasks.size(), (*state)->timers.size(),
              (*state)->kept.size(), (*state)->queue.size(), (*state)->continuations.size());
    }
    if (!(*state)->tasks.empty() || !(*state)->timers.empty()) {
        blame("run {} has ended with {} tasks and {} timers", run.id, (*state)->tasks.size(),
              (*state)->timers.size());
    }
    auto folded = trigger::RunState{};
    folded.id = run.id;
    for (const auto& entry : entries) {
        trigger::fold(folded, entry);
    }
    auto stored = trigger::testing::state_text(**state);
    auto recorded = trigger::testing::state_text(folded);
    if (stored != recorded) {
        blame("the state of run {} is not what its history says: {}", run.id,
              difference(stored, recorded));
    }
    auto last = trigger::EventNumber{entries.size()};
    auto past = engine::state_at(inspector_, run, last);
    if (!past || trigger::testing::state_text(*past->state) != recorded) {
        blame("the state of run {} from its last checkpoint on is not what its history says: {}",
              run.id,
              past ? difference(trigger::testing::state_text(*past->state), recorded)
                   : past.error().message);
    }
    for (auto from : {trigger::EventNumber{0}, last}) {
        auto report = engine::replay(inspector_, run, limits_, from);
        if (!report || report->difference_count > 0) {
            blame("run {} does not replay from event {}: event {}: {}", run.id, from.raw(),
                  report ? report->differences.front().event.raw() : 0,
                  report ? report->differences.front().what : report.error().message);
        }
    }
}

void Oracle::check_entries(const engine::RunName& run, const std::vector<trigger::Entry>& entries) {
    fires_ = 0;
    fires_of_.clear();
    answered_.clear();
    attempts_.clear();
    last_ = {};
    timers_.clear();
    auto number = std::uint64_t{0};
    auto codec = event::Codec{};
    std::erase_if(taken_, [&](const auto& each) { return std::get<0>(each.first) == run.id; });
    for (const auto& entry : entries) {
        if (entry.number.raw() != ++number) {
            blame("run {} has event {} at place {}", run.id, entry.number.raw(), number);
            return;
        }
        check_moment(run, entry);
        check_timer(run, entry);
        check_answer(run, entry);
        for (const auto& change : entry.changes) {
            check_change(run, entry, change);
        }
        auto json = value::parse_json(entry.json);
        if (!trigger::is_from_outside(entry.origin) || !json) {
            continue;
        }
        auto& taken = taken_[{run.id, std::string{json->find("source")->as_string()},
                              std::string{json->find("id")->as_string()}}];
        auto is_first = entry.fate != trigger::Fate::Duplicate &&
                        entry.fate != trigger::Fate::Late && entry.fate != trigger::Fate::Busy;
        taken.first += is_first ? 1 : 0;
        ++taken.all;
    }
}

void Oracle::check_timer(const engine::RunName& run, const trigger::Entry& entry) {
    if (entry.origin != trigger::Origin::Timer || entry.fate == trigger::Fate::Late) {
        return;
    }
    auto timer = timers_.find(trigger::TimerNumber{entry.refs[0]});
    if (timer == timers_.end() || timer->second.occurrence != entry.refs[1]) {
        blame("timer {} of run {} fired and was not set", entry.refs[0], run.id);
        return;
    }
    auto now = timer->second.is_absolute ? entry.moment.time : entry.moment.steady;
    if (now < timer->second.due) {
        blame("timer {} of run {} fired {} ns early", entry.refs[0], run.id,
              (timer->second.due - now).count());
    }
}

void Oracle::check_answer(const engine::RunName& run, const trigger::Entry& entry) {
    auto key = trigger::TaskKey{.fire = trigger::FireNumber{entry.refs[0]}, .index = entry.refs[1]};
    auto is_taken = entry.origin == trigger::Origin::Task && entry.fate != trigger::Fate::Late;
    if (is_taken && attempts_[key] != entry.refs[2]) {
        blame("attempt {} of task {} was answered, when {} was under way", entry.refs[2],
              engine::Dispatcher::key_of(run, key), attempts_[key]);
    }
}

void Oracle::check_moment(const engine::RunName& run, const trigger::Entry& entry) {
    if (entry.moment.time < last_.time || entry.moment.steady < last_.steady) {
        blame("time went back before event {} of run {}", entry.number.raw(), run.id);
    }
    last_ = entry.moment;
}

void Oracle::check_change(const engine::RunName& run, const trigger::Entry& entry,
                          const trigger::Change& change) {
    if (const auto* fired = std::get_if<trigger::Fired>(&change)) {
        if (fired->fire.raw() != ++fires_) {
            blame("event {} of run {} has fire {}, expected {}", entry.number.raw(), run.id,
                  fired->fire.raw(), fires_);
        }
        ++fires_of_[fired->trigger.raw()];
    } else if (const auto* closed = std::get_if<trigger::TaskClosed>(&change)) {
        if (!answered_.insert(closed->key).second) {
            blame("task {}/{}/{} was answered twice", run.id, closed->key.fire.raw(),
                  closed->key.index);
        }
        auto key = engine::Dispatcher::key_of(run, closed->key);
        auto is_success = entry.json.find(trigger::types::task_succeeded) != std::string::npos;
        if (is_success && !functions_.effects().contains(key)) {
            blame("task {} was answered and never carried out", key);
        }
    } else if (const auto* opened = std::get_if<trigger::TaskOpened>(&change)) {
        attempts_[opened->key] = opened->task.attempt;
    } else if (const auto* retried = std::get_if<trigger::TaskRetried>(&change)) {
        attempts_[retried->key] = retried->attempt;
    } else if (const auto* set = std::get_if<trigger::TimerSet>(&change)) {
        timers_[set->number] = set->timer;
    }
}

void Oracle::check_acknowledged() {
    for (const auto& each : clients_.acknowledged()) {
        auto taken = taken_[{each.run, each.source, each.event}];
        auto is_late = each.fate == trigger::Fate::Late;
        if (taken.all == 0 ||
            (taken.first == 0 && !is_late && each.fate != trigger::Fate::Duplicate)) {
            blame("event {} of run {} was acknowledged as {} and lost", each.event, each.run,
                  to_string(each.fate));
        }
    }
    for (const auto& [name, taken] : taken_) {
        if (taken.first > 1) {
            blame("event {} of run {} was taken {} times", std::get<2>(name), std::get<0>(name),
                  taken.first);
        }
    }
}

/// What a numbered source has is taken once, or set aside once, and every shard knows how far it
/// is.
void Oracle::check_bus() {
    auto aside = std::map<std::uint64_t, std::uint64_t>{};
    auto quarantine = engine::read_quarantine(store_, 1'000'000).value();
    for (const auto& each : quarantine) {
        ++aside[each.number];
    }
    auto number = std::uint64_t{0};
    for (const auto& message : bus_.messages()) {
        auto set_aside = aside[++number];
        auto taken = taken_[{message.run, Bus::source, message.id}].first;
        if (set_aside != (message.is_stray ? 1U : 0U) || taken != (message.is_stray ? 0U : 1U)) {
            blame("event {} of the bus, {} of run {}, was taken {} times and set aside {} times",
                  number, message.id, message.run, taken, set_aside);
        }
    }
    auto positions = engine::positions_of(store_, Bus::partition).value();
    for (auto shard = std::size_t{0}; shard < positions.size(); ++shard) {
        if (positions[shard] != number) {
            blame("shard {} stands at {} of the bus, which has {}", shard, positions[shard],
                  number);
        }
    }
}

void Oracle::check_outbox(ShardId shard) {
    auto outbox = engine::Outbox{shard};
    auto left = outbox.load(store_);
    if (!left) {
        blame("the outbox of shard {} cannot be read: {}", shard.raw(), left.error().message);
        return;
    }
    for (const auto& message : left->messages) {
        auto taken = number_at(store_, engine::keys::stream_taken(message.to, shard));
        if (message.number > taken) {
            blame("message {} from shard {} to {} never came: that has taken {}", message.number,
                  shard.raw(), message.to.raw(), taken);
        }
    }
    for (auto other = std::uint16_t{0}; other < store_.shard_count(); ++other) {
        auto sent = number_at(store_, engine::keys::stream_sent(shard, ShardId{other}));
        auto taken = number_at(store_, engine::keys::stream_taken(ShardId{other}, shard));
        if (sent != taken) {
            blame("shard {} sent {} messages to {}, which took {}", shard.raw(), sent, other,
                  taken);
        }
    }
}

} // namespace sluice::simulation
