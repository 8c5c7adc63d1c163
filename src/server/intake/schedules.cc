#include "server/intake/schedules.h"

#include <algorithm>
#include <utility>

#include "value/time_text.h"

namespace sluice::server::intake {

namespace {

/// Of what is due within the grace time: once a second.
constexpr auto on_time_max = std::size_t{60};

std::uint64_t count_at(const Value& stored, std::string_view name) {
    const auto* value = stored.find(name);
    return value != nullptr && value->is_int() ? static_cast<std::uint64_t>(value->as_int()) : 0;
}

std::string text_at_name(const Value& stored, std::string_view name) {
    const auto* value = stored.find(name);
    return value != nullptr && value->is_string() ? std::string{value->as_string()} : "";
}

/// Whether doing the same again may help.
bool is_passing(Errc code) {
    return code == Errc::Unavailable || code == Errc::NoSpace || code == Errc::Io ||
           code == Errc::Stale;
}

} // namespace

Schedules::State Schedules::State::from(const Value& stored) {
    const auto* last = stored.find("last");
    return {.last = last != nullptr && last->is_timestamp() ? last->as_timestamp() : Time{},
            .run = text_at_name(stored, "run"),
            .fired = count_at(stored, "fired"),
            .skipped = count_at(stored, "skipped"),
            .failed = count_at(stored, "failed"),
            .error = text_at_name(stored, "error")};
}

Value Schedules::State::to_value() const {
    return Value::object({{"last", last},
                          {"run", run},
                          {"fired", static_cast<std::int64_t>(fired)},
                          {"skipped", static_cast<std::int64_t>(skipped)},
                          {"failed", static_cast<std::int64_t>(failed)},
                          {"error", error}});
}

Result<std::unique_ptr<Schedules>> Schedules::open(Documents& documents, const Clock& clock,
                                                   ScheduleActions& actions,
                                                   std::function<void()> wake) {
    auto schedules =
        std::unique_ptr<Schedules>{new Schedules{documents, clock, actions, std::move(wake)}};
    for (const auto& document : documents.list(kind)) {
        TRY(schedules->load(document));
    }
    return schedules;
}

Result<void> Schedules::load(const Document& document) {
    const auto& [space, name, form] = document;
    auto schedule = Schedule::parse(space, name, form);
    if (!schedule) {
        return fail(Errc::Corrupt, "the stored schedule {}: {}", name, schedule.error().message);
    }
    auto stored = documents_.find(state_kind, space, name);
    auto state = stored ? State::from(stored->content) : State{.last = clock_.wall()};
    install({.schedule = *std::move(schedule), .form = form, .state = std::move(state)});
    return {};
}

Result<void> Schedules::follow(const std::string& space, const std::string& name) {
    auto changing = std::lock_guard{changing_};
    if (auto document = documents_.find(kind, space, name)) {
        TRY(load(*document));
    } else {
        auto lock = std::lock_guard{mutex_};
        entries_.erase(Key{space, name});
    }
    wake_();
    return {};
}

void Schedules::install(Entry entry) {
    entry.next = entry.schedule.timetable.next(entry.state.last);
    auto key = Key{entry.schedule.space, entry.schedule.name};
    auto lock = std::lock_guard{mutex_};
    entries_.insert_or_assign(std::move(key), std::make_shared<Entry>(std::move(entry)));
}

Result<std::shared_ptr<Schedules::Entry>> Schedules::find(std::string_view space,
                                                          std::string_view name) const {
    auto found = entries_.find(Key{space, name});
    if (found == entries_.end()) {
        return fail(Errc::NotFound, "there is no schedule \"{}\"", name);
    }
    return found->second;
}

Result<void> Schedules::put(std::string_view space, std::string_view name, const Value& form) {
    auto entry = Entry{.schedule = TRY(Schedule::parse(space, name, form)),
                       .form = form,
                       .state = {.last = clock_.wall()}};
    auto changing = std::lock_guard{changing_};
    auto is_new = true;
    {
        auto lock = std::lock_guard{mutex_};
        if (auto known = find(space, name);
            known && Schedule::is_same_timetable((*known)->form, form)) {
            is_new = false;
        }
    }
    if (!is_new) {
        entry.state = TRY(stored_state(space, name));
    }
    if (is_new && !entry.schedule.timetable.next(entry.state.last)) {
        return fail(Errc::InvalidInput, "at: this time is over");
    }
    // The state first: a schedule without one would begin whenever the program does.
    TRY(store_state({std::string{space}, std::string{name}}, entry.state));
    TRY(documents_.put(kind, {std::string{space}, std::string{name}, form}));
    install(std::move(entry));
    wake_();
    return {};
}

Result<void> Schedules::remove(std::string_view space, std::string_view name) {
    auto changing = std::lock_guard{changing_};
    TRY(documents_.remove(kind, space, name));
    if (documents_.find(state_kind, space, name)) {
        TRY(documents_.remove(state_kind, space, name));
    }
    auto lock = std::lock_guard{mutex_};
    entries_.erase(Key{space, name});
    return {};
}

Result<void> Schedules::pause(std::string_view space, std::string_view name) {
    return change_pause(space, name, true);
}

Result<void> Schedules::resume(std::string_view space, std::string_view name) {
    return change_pause(space, name, false);
}

Result<void> Schedules::change_pause(std::string_view space, std::string_view name,
                                     bool is_paused) {
    auto changing = std::lock_guard{changing_};
    auto lock = std::unique_lock{mutex_};
    auto entry = *TRY(find(space, name));
    lock.unlock();
    if (entry.schedule.is_paused == is_paused) {
        return {};
    }
    entry = Entry{.schedule = std::move(entry.schedule),
                  .form = entry.form.with("paused", is_paused),
                  .state = TRY(stored_state(space, name))};
    entry.schedule.is_paused = is_paused;
    entry.state.last = is_paused ? entry.state.last : std::max(entry.state.last, clock_.wall());
    TRY(store_state({std::string{space}, std::string{name}}, entry.state));
    TRY(documents_.put(kind, {std::string{space}, std::string{name}, entry.form}));
    install(std::move(entry));
    wake_();
    return {};
}

void Schedules::trigger(std::string_view space, std::string_view name,
                        std::move_only_function<void(Result<Value>)> done) {
    auto lock = std::unique_lock{mutex_};
    auto entry = find(space, name);
    auto schedule = entry ? std::optional{(*entry)->schedule} : std::nullopt;
    lock.unlock();
    if (!schedule) {
        done(std::unexpected(entry.error()));
        return;
    }
    auto now = clock_.wall();
    auto answer = Value::object({{"time", now}});
    if (!schedule->start.is_null()) {
        answer = answer.with("run", schedule->start_request(now).id);
    }
    act(*schedule, now, [done = std::move(done), answer](const Result<void>& acted) mutable {
        done(acted ? Result<Value>{std::move(answer)} : std::unexpected(acted.error()));
    });
}

Value Schedules::view_of(const Entry& entry) const {
    auto next = entry.schedule.is_paused ? std::nullopt : entry.next;
    return entry.form.with("schedule", entry.schedule.name)
        .with("paused", entry.schedule.is_paused)
        .with("state", entry.state.to_value().with("next", next ? Value{*next} : Value{}));
}

Result<Value> Schedules::view(std::string_view space, std::string_view name) const {
    auto lock = std::lock_guard{mutex_};
    return view_of(*TRY(find(space, name)));
}

std::vector<Value> Schedules::list(std::string_view space) const {
    auto lock = std::lock_guard{mutex_};
    auto views = std::vector<Value>{};
    for (const auto& [key, entry] : entries_) {
        if (key.first == space) {
            views.push_back(view_of(*entry));
        }
    }
    return views;
}

Result<std::vector<Time>> Schedules::next(std::string_view space, std::string_view name,
                                          std::size_t count) const {
    auto lock = std::lock_guard{mutex_};
    auto entry = TRY(find(space, name));
    auto times = std::vector<Time>{};
    auto after = std::max(clock_.wall(), entry->state.last);
    for (auto time = entry->schedule.timetable.next(after); time && times.size() < count;
         time = entry->schedule.timetable.next(*time)) {
        times.push_back(*time);
    }
    return times;
}

Result<void> Schedules::store_state(const Key& key, const State& state) {
    return documents_.put(state_kind, {key.first, key.second, state.to_value()});
}

/// Another process may have acted on it last.
Result<Schedules::State> Schedules::stored_state(std::string_view space,
                                                 std::string_view name) const {
    auto stored = TRY(documents_.fetch(state_kind, space, name));
    return stored ? State::from(stored->content) : State{.last = clock_.wall()};
}

Nanos Schedules::step() {
    while (true) {
        take_completions();
        auto due = due_now();
        if (due.empty()) {
            return time_left();
        }
        for (const auto& [key, entry] : due) {
            fire(key, entry, entry->due.front());
        }
    }
}

void Schedules::take_completions() {
    auto lock = std::unique_lock{mutex_};
    auto completions = std::exchange(completions_, {});
    lock.unlock();
    for (auto& completion : completions) {
        settle(completion);
    }
}

void Schedules::settle(Completion& completion) {
    auto changing = std::lock_guard{changing_};
    auto lock = std::unique_lock{mutex_};
    auto found = entries_.find(completion.key);
    if (found == entries_.end() || found->second != completion.entry) {
        return; // It was changed or removed meanwhile.
    }
    auto& entry = *completion.entry;
    entry.is_busy = false;
    entry.state.error = completion.error;
    if (completion.outcome == Outcome::TryAgain) {
        entry.retry_at = clock_.steady() + retry_interval;
        return;
    }
    entry.due.pop_front();
    entry.state.last = completion.due;
    entry.state.fired += completion.outcome == Outcome::Done ? 1 : 0;
    entry.state.skipped += completion.outcome == Outcome::Overlapped ? 1 : 0;
    entry.state.failed += completion.outcome == Outcome::Failed ? 1 : 0;
    if (completion.outcome == Outcome::Done && !entry.schedule.start.is_null()) {
        entry.state.run = entry.schedule.start_request(completion.due).id;
    }
    auto state = entry.state;
    lock.unlock();
    if (auto stored = store_state(completion.key, state); !stored) {
        lock.lock();
        entry.state.error = stored.error().message;
    }
}

std::vector<std::pair<Schedules::Key, std::shared_ptr<Schedules::Entry>>> Schedules::due_now() {
    auto now = clock_.wall();
    auto steady = clock_.steady();
    auto due = std::vector<std::pair<Key, std::shared_ptr<Entry>>>{};
    auto lock = std::lock_guard{mutex_};
    for (const auto& [key, entry] : entries_) {
        if (entry->is_busy || entry->schedule.is_paused || steady < entry->retry_at) {
            continue;
        }
        if (entry->due.empty() && entry->next && *entry->next <= now) {
            collect_due(*entry, now);
        }
        if (!entry->due.empty()) {
            entry->is_busy = true;
            due.emplace_back(key, entry);
        }
    }
    return due;
}

void Schedules::collect_due(Entry& entry, Time now) {
    const auto& timetable = entry.schedule.timetable;
    auto last = entry.state.last;
    auto edge = std::max(last, now - grace);
    auto on_time = timetable.latest(on_time_max, edge, now);
    auto missed = std::vector<Time>{};
    if (entry.schedule.missed == Schedule::Missed::RunAll) {
        missed = timetable.latest(entry.schedule.missed_max, last, edge);
    } else if (entry.schedule.missed == Schedule::Missed::RunOnce && on_time.empty()) {
        missed = timetable.latest(1, last, edge);
    }
    entry.due.assign(missed.begin(), missed.end());
    entry.due.insert(entry.due.end(), on_time.begin(), on_time.end());
    entry.next = timetable.next(now);
    if (entry.due.empty()) {
        // All of them are left out, which is as good as done; if it is not stored, it is so again.
        entry.state.last = now;
    }
}

void Schedules::fire(const Key& key, const std::shared_ptr<Entry>& entry, Time due) {
    auto finish = [this, key, entry, due](const Result<void>& acted) {
        if (acted) {
            complete({key, entry, due, Outcome::Done});
        } else {
            auto outcome = is_passing(acted.error().code) ? Outcome::TryAgain : Outcome::Failed;
            complete({key, entry, due, outcome, acted.error().message});
        }
    };
    const auto& schedule = entry->schedule;
    if (schedule.overlap == Schedule::Overlap::Allow || schedule.start.is_null() ||
        entry->state.run.empty() || entry->state.run == schedule.start_request(due).id) {
        act(schedule, due, finish);
        return;
    }
    actions_.ask_running({.space = key.first, .id = entry->state.run},
                         [this, key, entry, due, finish](bool is_running) {
                             if (is_running) {
                                 complete({key, entry, due, Outcome::Overlapped});
                             } else {
                                 act(entry->schedule, due, finish);
                             }
                         });
}

void Schedules::act(const Schedule& schedule, Time due, ScheduleActions::Done done) {
    if (!schedule.start.is_null()) {
        actions_.start(schedule.start_request(due), std::move(done));
        return;
    }
    auto event = schedule.event_of(due);
    if (!event) {
        done(std::unexpected(event.error()));
        return;
    }
    actions_.send(schedule.space, *std::move(event), std::move(done));
}

void Schedules::complete(Completion completion) {
    {
        auto lock = std::lock_guard{mutex_};
        completions_.push_back(std::move(completion));
    }
    wake_();
}

Nanos Schedules::time_left() const {
    auto left = Nanos{step_interval_max};
    auto now = clock_.wall();
    auto steady = clock_.steady();
    auto lock = std::lock_guard{mutex_};
    for (const auto& [key, entry] : entries_) {
        if (entry->is_busy || entry->schedule.is_paused) {
            continue;
        }
        if (!entry->due.empty()) {
            left = std::min(left, entry->retry_at - steady);
        } else if (entry->next) {
            left = std::min(left, *entry->next - now);
        }
    }
    return completions_.empty() ? std::max(left, Nanos{0}) : Nanos{0};
}

} // namespace sluice::server::intake
