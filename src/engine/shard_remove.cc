#include <utility>

#include <fmt/format.h>

#include "engine/run_index.h"
#include "engine/shard.h"

// How runs leave a shard: by hand, or when their time is over.
namespace sluice::engine {

Result<void> Shard::remove(RemoveInput&& input) {
    auto* run = TRY(runs_.find(input.run));
    if (run == nullptr) {
        answer_later(std::move(input.done),
                     fail(Errc::NotFound, "there is no run \"{}\"", input.run.id));
        return {};
    }
    if (run->state->has_ended() && run->state->has_unswept() &&
        input.when_running == WhenRunning::Refuse) {
        answer_later(
            std::move(input.done),
            fail(Errc::Conflict, "run \"{}\" still cancels what it had open: try again in a moment",
                 input.run.id));
        return {};
    }
    if (!run->state->has_ended()) {
        if (input.when_running == WhenRunning::Refuse) {
            answer_later(std::move(input.done),
                         fail(Errc::Conflict, "run \"{}\" is running: cancel or terminate it first",
                              input.run.id));
            return {};
        }
        decide(*run,
               trigger::command_arrival(*run->state, std::string{trigger::types::run_terminate},
                                        Value{}, moment_));
    }
    TRY(remove_nested(input.run));
    forget(*run);
    answer_later(std::move(input.done), Value::object({{"removed", input.run.id}}));
    return {};
}

/// Each hears of it behind its start, on the same stream: one that is still to begin goes too.
Result<void> Shard::remove_nested(const RunName& parent) {
    auto nested = outbox_.starting(parent);
    auto filter = RunFilter{.space = parent.space,
                            .label = fmt::format("{}={}", parent_label, parent.id),
                            .most = 1'000};
    do {
        auto page = TRY(list_runs(services_.store, filter));
        for (auto& listed : page.runs) {
            nested.insert(std::move(listed.run));
        }
        filter.cursor = std::move(page.cursor);
    } while (!filter.cursor.empty());
    for (const auto& run : nested) {
        outbox_.add_message(shard_of(run, services_.store.shard_count()),
                            {.kind = Message::Kind::Remove, .to = run});
    }
    return {};
}

void Shard::forget(AwakeRun& run) {
    auto name = run.name;
    std::erase(touched_, &run);
    unblock(name);
    for (auto& waiting : std::exchange(reopening_[name], {})) {
        answer_later(std::move(waiting.done),
                     fail(Errc::NotFound, "run \"{}\" was removed", name.id));
    }
    reopening_.erase(name);
    for (const auto& [key, task] : run.state->tasks) {
        outbox_.close_call(name, key); // To a sink, or not swept yet: it may be under way.
        release_.cancelled.emplace_back(name, key);
    }
    release_.removed.push_back(name);
    removed_.push_back(
        {.name = name, .state = std::move(run.state), .listed = std::move(run.listed)});
    runs_.remove(name);
    runs_.bury(name, commit_ + 1);
    has_changes_ = true;
}

Result<void> Shard::sweep_expired() {
    keep_time();
    auto prefix = keys::table(id_, 'G');
    auto cursor = services_.store.scan(prefix, keys::end_of(prefix));
    for (auto count = 0; cursor->is_valid() && count < 100; cursor->next(), ++count) {
        auto key = Decoder{cursor->key().substr(prefix.size())};
        auto when = Time{Nanos{TRY(key.i64())}};
        if (when > moment_.time) {
            break;
        }
        auto run = TRY(keys::read_run(key));
        auto* awake = TRY(runs_.find(run));
        if (awake != nullptr && awake->state->has_unswept()) {
            continue; // Its time comes when it is swept.
        }
        auto event = TRY(key.u64());
        puts_.emplace_back(std::string{cursor->key()}, "");
        has_changes_ = true;
        TRY(event == 0 ? expire_run(run, when) : expire_history(run, event, when));
    }
    TRY(cursor->status());
    return sweep_quarantine();
}

Result<void> Shard::expire_run(const RunName& run, Time when) {
    auto* awake = TRY(runs_.find(run));
    // Another run may have taken the name of one that was removed by hand.
    if (awake != nullptr && awake->state->progress.ended &&
        *awake->state->progress.ended + retention_of(*awake) <= when) {
        forget(*awake); // Runs that it started have a time of their own.
    }
    return {};
}

/// Also while the run lives: one without end keeps what its retention says and no more.
Result<void> Shard::expire_history(const RunName& run, std::uint64_t event, Time when) {
    auto* awake = TRY(runs_.find(run));
    if (awake == nullptr) {
        return {};
    }
    auto checkpoint = TRY(checkpoint_at(services_.store, id_, run, trigger::EventNumber{event}));
    // It may be that of another run, which had the name before.
    if (checkpoint && checkpoint->event.raw() == event &&
        checkpoint->moment.time + retention_of(*awake) <= when) {
        auto ranges = ranges_before(id_, run, event);
        removed_ranges_.insert(removed_ranges_.end(), ranges.begin(), ranges.end());
    }
    return {};
}

} // namespace sluice::engine
