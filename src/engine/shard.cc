#include "engine/shard.h"

#include <utility>

#include <fmt/format.h>

#include "base/invariant.h"
#include "engine/run_records.h"
#include "value/archive.h"

namespace sluice::engine {

Shard::Shard(ShardId id, ShardServices services)
    : id_(id),
      services_(services),
      clock_(services.clock),
      runs_(id, services.store, services.catalog, services.awake_runs_max),
      outbox_(id),
      timers_(id, services.store) {}

Result<void> Shard::take(Input&& input) {
    keep_time();
    return std::visit(
        [&]<typename T>(T&& each) -> Result<void> {
            using Kind = std::decay_t<T>;
            if constexpr (std::is_same_v<Kind, StartInput>) {
                return start(std::forward<T>(each));
            } else if constexpr (std::is_same_v<Kind, ForkInput>) {
                return fork(std::forward<T>(each));
            } else if constexpr (std::is_same_v<Kind, EventsInput>) {
                return take_events(std::forward<T>(each));
            } else if constexpr (std::is_same_v<Kind, MoveInput>) {
                move_position(std::forward<T>(each));
                return {};
            } else if constexpr (std::is_same_v<Kind, LeaveInput>) {
                give_back(each.partition, {Errc::Unavailable, "nobody feeds this source any more"});
                if (each.is_counted) {
                    positions_.erase(each.partition);
                    refused_at_.erase(each.partition);
                }
                return {};
            } else if constexpr (std::is_same_v<Kind, CommandInput>) {
                return command(std::forward<T>(each));
            } else if constexpr (std::is_same_v<Kind, AnswerInput>) {
                return answer(std::forward<T>(each));
            } else if constexpr (std::is_same_v<Kind, HeartbeatInput>) {
                INVARIANT(false, "a lane answers what concerns no run's state");
                return {};
            } else if constexpr (std::is_same_v<Kind, StreamInput>) {
                return take_message(std::forward<T>(each));
            } else if constexpr (std::is_same_v<Kind, ConfirmInput>) {
                outbox_.confirm(each.from, each.number);
                return {};
            } else if constexpr (std::is_same_v<Kind, QueryInput>) {
                return query(std::forward<T>(each));
            } else if constexpr (std::is_same_v<Kind, WatchInput>) {
                return watch(std::forward<T>(each));
            } else if constexpr (std::is_same_v<Kind, UnwatchInput>) {
                unwatch(each);
                return {};
            } else if constexpr (std::is_same_v<Kind, ReopenInput>) {
                return reopen(std::forward<T>(each));
            } else {
                return remove(std::forward<T>(each));
            }
        },
        std::move(input));
}

trigger::Fate Shard::decide(AwakeRun& run, const trigger::Arrival& arrival) {
    touch(run);
    auto decided = begin_deciding(run);
    auto decider =
        trigger::Decider{*run.state, *run.triggers, run.journal, codec_, services_.limits};
    auto fate = trigger::Fate::Failed;
    if (services_.marker == nullptr) {
        fate = decider.decide(arrival);
    } else {
        auto print = CrashMarker::print_of(run.name.id, arrival.event.source(), arrival.event.id());
        if (services_.marker->is_suspect(print)) [[unlikely]] {
            services_.diagnostics.error("an event was set aside",
                                        {{"run", run.name.id}, {"event", arrival.event.id()}});
            fate = decider.set_aside(arrival, "deciding it has stopped the process twice");
        } else {
            services_.marker->begin(services_.lane, print);
            fate = decider.decide(arrival);
            services_.marker->end(services_.lane);
        }
    }
    end_deciding(run, decided);
    return fate;
}

Shard::Decided Shard::begin_deciding(const AwakeRun& run) {
    return {.effects = run.journal.effects.size(),
            .bytes = run.journal.bytes(),
            .events = run.journal.entries(),
            .fires = run.state->progress.fires};
}

void Shard::end_deciding(AwakeRun& run, const Decided& before) {
    follow_effects(run, before.effects);
    change_bytes_ += run.journal.bytes() - before.bytes;
    events_ += run.journal.entries() - before.events;
    fired_ += run.state->progress.fires - before.fires;
    if (!blocked_.empty()) {
        unblock_if_room(run);
    }
}

Result<void> Shard::take_turns() {
    keep_time();
    TRY(take_unblocked());
    for (const auto& name : std::set<RunName>{ready_}) {
        auto* run = TRY(runs_.find(name));
        if (run == nullptr || !run->state->has_work()) {
            ready_.erase(name);
            continue;
        }
        touch(*run);
        auto decided = begin_deciding(*run);
        auto decider =
            trigger::Decider{*run->state, *run->triggers, run->journal, codec_, services_.limits};
        decider.take_turn(moment_);
        end_deciding(*run, decided);
        if (!reopening_.empty() && !run->state->progress.is_sweeping) {
            if (auto waiting = reopening_.extract(name); !waiting.empty()) {
                for (auto& input : waiting.mapped()) {
                    TRY(reopen(std::move(input)));
                }
            }
        }
    }
    return {};
}

Result<void> Shard::fire_due_timers() {
    keep_time();
    auto due = TRY(timers_.take_due(moment_, services_.limits.slice_items_max));
    for (const auto& timer : due) {
        auto* run = TRY(runs_.find(timer.run));
        // It may have been removed, or moved to a later time under the same number.
        if (run == nullptr) {
            continue;
        }
        auto found = run->state->timers.find(timer.number);
        if (found == run->state->timers.end()) {
            continue;
        }
        auto now = found->second.is_absolute ? moment_.time : moment_.steady;
        if (found->second.due <= now) {
            decide(*run, trigger::timer_arrival(*run->state, timer.number, moment_));
        }
    }
    return {};
}

Release Shard::write(Commit& commit) {
    auto& batch = commit.batch();
    auto stands_on = commit_++;
    batch.fence({.shard = id_, .epoch = epoch_, .stands_on = CommitNumber{stands_on}});
    // A run of the same name may have begun since: what was removed goes first.
    for (const auto& gone : std::exchange(removed_, {})) {
        remove_run(*gone.state, id_, gone.name, batch);
        if (gone.listed) {
            remove_listed(*gone.listed, id_, gone.name, batch);
        }
        runs_.bury(gone.name, commit_);
    }
    for (const auto& [from, to] : std::exchange(removed_ranges_, {})) {
        batch.remove_range(from, to);
    }
    for (auto* run : std::exchange(touched_, {})) {
        write_run(*run, commit);
    }
    for (const auto& [key, value] : std::exchange(puts_, {})) {
        value.empty() ? batch.remove(key) : batch.put(key, value);
    }
    outbox_.write(commit_, batch);
    for (const auto& partition : std::exchange(moved_positions_, {})) {
        batch.put(keys::position(id_, partition),
                  number_record(positions_.find(partition)->second));
    }
    for (auto sender : std::exchange(moved_streams_, {})) {
        batch.put(keys::stream_taken(id_, sender), number_record(taken_[sender]));
        release_.confirmations.push_back({.from = id_, .to = sender, .number = taken_[sender]});
    }
    auto time = std::string{};
    auto out = Encoder{time};
    out.u8(time_format);
    value::encode_fields(clock_.mark(), out);
    batch.put(keys::shard_time(id_), time);

    auto release = std::exchange(release_, {});
    release.shard = id_;
    release.commit = commit_;
    release.messages = outbox_.take_messages();
    has_changes_ = false;
    change_bytes_ = 0;
    return release;
}

void Shard::write_run(AwakeRun& run, Commit& commit) {
    auto& batch = commit.batch();
    if (!run.journal.is_empty()) {
        auto record = run.journal.record(moment_);
        commit.put_history(keys::history(id_, run.name, run.first_event), record, run.journal);
        if (watch_ != nullptr && watch_->decided && (!watch_->wants || watch_->wants(run.name))) {
            release_.records.emplace_back(run.name, run.journal.with_texts(record));
        }
        release_.events += run.journal.entries();
    }
    run.journal.clear();
    if (run.needs_checkpoint ||
        run.checkpoint.value_or(CheckpointMark{})
            .is_due(run.state->progress.events, services_.checkpoint_events)) [[unlikely]] {
        checkpoint(run, batch);
    }
    write_dirty(*run.state, id_, run.name, batch);
    list(run, batch);
    auto has_work = run.state->has_work();
    if (has_work != run.is_listed_ready) {
        auto key = keys::ready(id_, run.name);
        has_work ? batch.put(key, "1") : batch.remove(key);
        run.is_listed_ready = has_work;
    }
    runs_.note_written(run, commit_);
}

Release Shard::take_answers() {
    auto release = Release{.shard = id_, .commit = commit_};
    release.answers = std::exchange(release_.answers, {});
    return release;
}

/// An ended run needs none: it goes as a whole.
void Shard::checkpoint(AwakeRun& run, store::Batch& batch) {
    if (run.state->has_ended()) {
        return;
    }
    if (!run.checkpoint) {
        auto last = last_checkpoint(services_.store, id_, run.name);
        if (!last) {
            services_.diagnostics.error("a checkpoint cannot be read",
                                        {{"run", run.name.id}, {"why", last.error().message}});
            return;
        }
        run.checkpoint = *last;
    }
    auto is_due = run.checkpoint->is_due(run.state->progress.events, services_.checkpoint_events);
    if (std::exchange(run.needs_checkpoint, false) || is_due) {
        run.checkpoint = write_checkpoint(*run.state, id_, run.name, moment_, batch);
        batch.put(
            keys::expiry(id_, moment_.time + retention_of(run), run.name, run.checkpoint->event),
            "1");
    }
}

/// Keeps the run index in step. What a run is listed by changes only when it begins or ends.
void Shard::list(AwakeRun& run, store::Batch& batch) {
    const auto& progress = run.state->progress;
    if (run.listed && run.listed->status == progress.status &&
        run.listed->started == run.state->info.started && run.listed->ended == progress.ended &&
        run.listed->parent == (run.state->info.parent ? run.state->info.parent->run : "")) {
        return;
    }
    if (run.listed) {
        remove_listed(*run.listed, id_, run.name, batch);
    }
    run.listed = summary_of(*run.state);
    put_listed(*run.listed, id_, run.name, batch);
    if (watch_ != nullptr && watch_->listed && (!watch_->wants_runs || watch_->wants_runs())) {
        release_.listed.emplace_back(run.name, *run.listed);
    }
}

void Shard::confirm_synced(std::uint64_t commit) {
    runs_.shrink(commit);
    timers_.confirm_synced(commit);
}

void Shard::keep_time() {
    if (touched_.empty()) {
        moment_ = clock_.now();
    }
}

void Shard::touch(AwakeRun& run) {
    has_changes_ = true;
    if (!run.is_touched) {
        run.is_touched = true;
        run.first_event = run.state->progress.events + 1;
        touched_.push_back(&run);
    }
}

std::optional<Nanos> Shard::until_next_timer() {
    return timers_.until_next(clock_.now());
}

void Shard::answer_later(Done done, Result<Value> result) {
    if (done) {
        release_.answers.emplace_back(
            [done = std::move(done), result = std::move(result)](const Error* error) mutable {
                error == nullptr ? done(std::move(result)) : done(std::unexpected(*error));
            });
    }
}

void Shard::abandon(const Error& error) {
    for (auto& answer : std::exchange(release_, {}).answers) {
        answer(&error);
    }
    drain(error);
    for (auto& [run, waiting] : std::exchange(reopening_, {})) {
        for (auto& input : waiting) {
            input.done(std::unexpected(error));
        }
    }
    for (auto& [run, waiting] : std::exchange(watchers_, {})) {
        for (auto& input : waiting) {
            input.done(std::unexpected(error));
        }
    }
}

} // namespace sluice::engine
