#include "engine/awake_runs.h"

#include <algorithm>
#include <utility>

#include "engine/run_records.h"

namespace sluice::engine {

namespace {

constexpr auto settled_share = std::size_t{64};
/// As many as a batch may begin and end, of a shard among many.
constexpr auto spare_max = std::size_t{16};

std::string name_key(const RunName& run) {
    auto key = run.space;
    key.push_back('\0');
    key += run.id;
    return key;
}

} // namespace

Result<std::shared_ptr<const trigger::TriggerSet>> AwakeRuns::set_of(const std::string& hash) {
    if (!hash.empty()) {
        return catalog_.set(hash);
    }
    auto problems = std::vector<trigger::Problem>{};
    return trigger::TriggerSet::compile({}, catalog_.vocabulary(), problems);
}

AwakeRun* AwakeRuns::insert(const RunName& run, std::unique_ptr<trigger::RunState> state,
                            std::shared_ptr<const trigger::TriggerSet> set) {
    auto awake = take_spare();
    awake->name = run;
    awake->state = std::move(state);
    awake->triggers = std::make_unique<trigger::RunTriggers>(std::move(set), catalog_.vocabulary());
    auto* raw = awake.get();
    raw->place = by_use_.insert(by_use_.end(), raw);
    runs_[name_key(run)] = std::move(awake);
    return raw;
}

Result<AwakeRun*> AwakeRuns::find(const RunName& run) {
    if (auto found = runs_.find(name_key(run)); found != runs_.end()) {
        auto* awake = found->second.get();
        auto& list = list_of(*awake);
        list.splice(list.end(), list, awake->place);
        return awake;
    }
    if (buried_.contains(run)) {
        return nullptr;
    }
    auto state = TRY(load_run(store_, shard_, run));
    if (!state) {
        return nullptr;
    }
    auto set = TRY(set_of(state->info.set));
    auto summary = summary_of(*state);
    auto has_work = state->has_work();
    auto* awake = insert(run, std::move(state), std::move(set));
    awake->listed = std::move(summary);
    awake->is_listed_ready = has_work;
    TRY(awake->triggers->restore(*awake->state));
    return awake;
}

Result<AwakeRun*> AwakeRuns::create(const RunName& run, const std::string& set) {
    auto compiled = TRY(set_of(set));
    auto state = spare_.empty() ? nullptr : std::move(spare_.back()->state);
    if (!state) {
        state = std::make_unique<trigger::RunState>();
    }
    state->id = run.id;
    return insert(run, std::move(state), std::move(compiled));
}

void AwakeRuns::remove(const RunName& run) {
    auto found = runs_.find(name_key(run));
    if (found != runs_.end()) {
        remove(*found->second);
    }
}

void AwakeRuns::remove(AwakeRun& run) {
    list_of(run).erase(run.place);
    auto found = runs_.find(name_key(run.name));
    auto gone = std::move(found->second);
    runs_.erase(found);
    if (gone->is_settled && spare_.size() < spare_max) {
        keep_spare(std::move(gone));
    }
}

std::unique_ptr<AwakeRun> AwakeRuns::take_spare() {
    if (spare_.empty()) {
        return std::make_unique<AwakeRun>();
    }
    auto spare = std::move(spare_.back());
    spare_.pop_back();
    return spare;
}

void AwakeRuns::keep_spare(std::unique_ptr<AwakeRun> run) {
    auto state = std::move(run->state);
    auto journal = std::move(run->journal);
    if (state) {
        state->clear();
    }
    *run = {};
    run->state = std::move(state);
    run->journal = std::move(journal);
    spare_.push_back(std::move(run));
}

void AwakeRuns::note_written(AwakeRun& run, std::uint64_t commit) {
    run.is_touched = false;
    run.last_commit = commit;
    auto& from = list_of(run);
    run.is_settled = run.state->has_ended() && !run.state->has_work();
    if (run.is_settled) {
        run.journal.release_room();
        run.state->release_room();
    }
    auto& to = list_of(run);
    to.splice(to.end(), from, run.place);
}

void AwakeRuns::shrink(std::uint64_t synced_commit) {
    std::erase_if(buried_, [&](const auto& each) { return each.second <= synced_commit; });
    shrink(settled_by_use_, runs_max_ / settled_share, synced_commit);
    shrink(by_use_, runs_max_ - std::min(runs_max_, settled_by_use_.size()), synced_commit);
}

void AwakeRuns::shrink(std::list<AwakeRun*>& list, std::size_t most, std::uint64_t synced_commit) {
    for (auto it = list.begin(); list.size() > most && it != list.end();) {
        auto* run = *it++;
        if (!run->is_touched && run->last_commit <= synced_commit) {
            remove(*run);
        }
    }
}

void AwakeRuns::drop_all() {
    runs_.clear();
    by_use_.clear();
    settled_by_use_.clear();
}

} // namespace sluice::engine
