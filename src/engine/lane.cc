#include "engine/lane.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace sluice::engine {

namespace {

constexpr auto room_check_interval = std::chrono::milliseconds{100};

Error unknown_after(const Error& error) {
    return {Errc::Io, fmt::format("{}: whether it was taken is not known", error.message)};
}

} // namespace

Lane::Lane(store::Store& store, Committer& committer, LaneOutputs outputs, LaneLimits limits,
           observe::Diagnostics& diagnostics)
    : store_(store),
      committer_(committer),
      outputs_(std::move(outputs)),
      limits_(limits),
      diagnostics_(diagnostics) {}

void Lane::add(std::unique_ptr<Shard> shard, Release left) {
    shard->set_watch(outputs_.watch);
    shards_.emplace(shard->id(), std::move(shard));
    auto releases = Releases{};
    releases.push_back(std::move(left));
    release(std::move(releases));
}

void Lane::set_return(std::function<void(std::unique_ptr<Commit>, Result<void>)> give_back) {
    give_back_ = std::move(give_back);
}

void Lane::let_go(ShardId id, std::function<void()> gone) {
    auto found = shards_.find(id);
    if (has_stopped_ || found == shards_.end()) {
        gone();
        return;
    }
    leaving_.emplace(id, std::move(gone));
    found->second->drain({Errc::Unavailable, "the shard goes to another process"});
}

bool Lane::is_under_way(ShardId shard) const {
    return std::ranges::any_of(in_flight_, [&](const Releases& releases) {
        return std::ranges::find(releases, shard, &Release::shard) != releases.end();
    });
}

void Lane::finish_leaving() {
    std::erase_if(leaving_, [&](auto& each) {
        auto& [id, gone] = each;
        auto found = shards_.find(id);
        if (found != shards_.end()) {
            if (found->second->has_changes() || is_under_way(id)) {
                return false;
            }
            give_up(*found->second, {Errc::Unavailable, "the shard went to another process"});
            shards_.erase(found);
        }
        gone();
        return true;
    });
}

/// Its calls are made anew by who has it next; whoever waits asks there.
void Lane::give_up(Shard& shard, const Error& error) {
    for (const auto& [run, key] : shard.open_calls()) {
        outputs_.cancel(run, key);
    }
    shard.abandon(error);
}

void Lane::lose(const Error& error) {
    if (has_stopped_) {
        return;
    }
    lost_in_flight_ += in_flight_.size();
    auto unknown = unknown_after(error);
    for (auto& releases : std::exchange(in_flight_, {})) {
        answer_all(releases, unknown);
    }
    for (auto& [id, shard] : std::exchange(shards_, {})) {
        give_up(*shard, error);
    }
    auto inputs = backlog_.take_all();
    for (auto& input : inputs) {
        hand_on(std::move(input));
    }
    finish_leaving();
}

bool Lane::step(std::vector<Input>& inputs) {
    if (has_stopped_) {
        return false;
    }
    finish_leaving();
    backlog_.add(inputs);
    if (in_flight_.size() >= limits_.batches_in_flight_max) {
        return false;
    }
    decide();
    return !has_stopped_ && commit();
}

void Lane::decide() {
    is_full_ = !store_.is_writable();
    auto is_ok = [&](Result<void> result) {
        if (!result) {
            stop(result.error());
        }
        return result.has_value();
    };
    if (!is_full_ && !waiting_for_room_.empty()) {
        auto behind = backlog_.take_all();
        backlog_.add(waiting_for_room_);
        backlog_.add(behind);
    }
    auto bytes = std::size_t{0};
    while (!backlog_.empty() && bytes < limits_.batch_bytes_max) {
        auto input = backlog_.take();
        if (is_full_ && is_refused(input)) {
            continue;
        }
        auto found = shards_.find(shard_of(input, store_.shard_count()));
        if (found == shards_.end() || leaving_.contains(found->first)) {
            hand_on(std::move(input));
            continue;
        }
        if (auto* heartbeat = std::get_if<HeartbeatInput>(&input)) {
            answer(*heartbeat);
            continue;
        }
        auto& shard = *found->second;
        auto before = shard.change_bytes();
        if (!is_ok(shard.take(std::move(input)))) {
            return;
        }
        bytes += shard.change_bytes() - before + 64;
    }
    if (is_full_ || is_draining_) {
        return;
    }
    for (auto& [id, shard] : shards_) {
        if (!leaving_.empty() && leaving_.contains(id)) {
            continue;
        }
        auto next = shard->until_next_timer();
        if (next && *next <= Nanos{0} && !is_ok(shard->fire_due_timers())) {
            return;
        }
        // Continuations are queued behind what has arrived.
        if (shard->has_turns() && !is_ok(shard->take_turns())) {
            return;
        }
    }
}

/// It changes nothing that is stored. Calls of the shard that are open have been made by now.
void Lane::answer(HeartbeatInput& input) {
    input.done(Value{outputs_.heartbeat && outputs_.heartbeat(input.attempt, input.lease)});
}

/// What is of a numbered stream comes again where the shard is now, in its order.
void Lane::hand_on(Input&& input) {
    const auto* events = std::get_if<EventsInput>(&input);
    auto is_of_stream = (events != nullptr && !events->partition.empty()) ||
                        std::holds_alternative<MoveInput>(input) ||
                        std::holds_alternative<LeaveInput>(input);
    if (outputs_.elsewhere && !is_of_stream) {
        outputs_.elsewhere(std::move(input));
    } else {
        refuse(input, {Errc::Unavailable, "its shard is not here"});
    }
}

/// Below the reserve of free space nothing new is taken. Questions are still answered; what nobody
/// can be told to send again waits, in its order.
bool Lane::is_refused(Input& input) {
    if (std::holds_alternative<QueryInput>(input) || std::holds_alternative<WatchInput>(input) ||
        std::holds_alternative<UnwatchInput>(input) ||
        std::holds_alternative<HeartbeatInput>(input)) {
        return false;
    }
    auto can_be_refused = std::visit(
        [](const auto& each) {
            if constexpr (requires { each.ended; }) {
                return each.done || each.ended;
            } else if constexpr (requires { each.done; }) {
                return static_cast<bool>(each.done);
            } else {
                return false;
            }
        },
        input);
    if (can_be_refused) {
        const auto* events = std::get_if<EventsInput>(&input);
        if (events != nullptr && shards_.contains(events->shard)) {
            shards_.at(events->shard)->note_refused(*events);
        }
        refuse(input,
               {Errc::NoSpace, "the disk is nearly full: nothing is taken until there is room"});
    } else {
        waiting_for_room_.push_back(std::move(input));
    }
    return true;
}

void Lane::refuse(Input& input, const Error& error) {
    std::visit(
        [&](auto& each) {
            if constexpr (requires { each.done; }) {
                if (each.done) {
                    each.done(std::unexpected(error));
                }
            }
            if constexpr (requires { each.ended; }) {
                if (each.ended) {
                    each.ended(std::unexpected(error));
                }
            }
        },
        input);
}

std::unique_ptr<Commit> Lane::take_spare() {
    if (spare_commits_.empty()) {
        return std::make_unique<Commit>(store_.make_batch());
    }
    auto spare = std::move(spare_commits_.back());
    spare_commits_.pop_back();
    spare->clear();
    return spare;
}

bool Lane::commit() {
    auto commit = std::unique_ptr<Commit>{};
    auto releases = Releases{};
    auto reads = Releases{};
    for (auto& [id, shard] : shards_) {
        if (!shard->has_changes()) {
            if (shard->has_answers()) {
                reads.push_back(shard->take_answers());
            }
            continue;
        }
        if (!commit) {
            commit = take_spare();
        }
        releases.push_back(shard->write(*commit));
    }
    if (!commit) {
        return answer_reads(std::move(reads));
    }
    std::ranges::move(reads, std::back_inserter(releases));
    count_commit(*commit);
    in_flight_.push_back(std::move(releases));
    // With nothing else to decide meanwhile, another thread would only have to be woken.
    auto is_idle = backlog_.empty() && std::ranges::none_of(shards_, [](const auto& each) {
                       return each.second->has_turns();
                   });
    // Behind what was lost it would be taken for that.
    if (in_flight_.size() == 1 && is_idle && lost_in_flight_ == 0) {
        auto result = committer_.commit_here(*commit);
        committed(std::move(commit), std::move(result));
    } else {
        committer_.submit(std::move(commit), [this](auto done_commit, auto result) {
            give_back_(std::move(done_commit), std::move(result));
        });
    }
    return true;
}

/// What was only read waits for the newest batch under way, whose state it may have seen. It needs
/// none of its own, so a full disk does not stand in its way.
bool Lane::answer_reads(Releases reads) {
    if (reads.empty()) {
        return false;
    }
    if (in_flight_.empty()) {
        release(std::move(reads));
    } else {
        std::ranges::move(reads, std::back_inserter(in_flight_.back()));
    }
    return true;
}

void Lane::committed(std::unique_ptr<Commit> commit, Result<void> result) {
    if (has_stopped_) {
        return;
    }
    if (lost_in_flight_ > 0) {
        --lost_in_flight_;
        return;
    }
    if (!result && result.error().code == Errc::Stale && outputs_.lost) {
        diagnostics_.warn("shards are another process's now", {{"why", result.error().message}});
        auto gone = Error{Errc::Unavailable, "another process has its shard now"};
        // Where nothing of it was done, whoever asked may ask again.
        answer_all(in_flight_.front(),
                   store_.atomicity() == store::Atomicity::Batch ? gone : unknown_after(gone));
        in_flight_.pop_front();
        lose(gone);
        outputs_.lost(result.error());
        return;
    }
    if (!result) {
        stop(result.error());
        return;
    }
    spare_commits_.push_back(std::move(commit));
    auto releases = std::move(in_flight_.front());
    in_flight_.pop_front();
    release(std::move(releases));
}

void Lane::answer_all(Releases& releases, const Error& error) {
    for (auto& each : releases) {
        for (auto& answer : each.answers) {
            answer(&error);
        }
    }
}

void Lane::release(Releases releases) {
    for (auto& each : releases) {
        if (auto found = shards_.find(each.shard); found != shards_.end()) {
            found->second->confirm_synced(each.commit);
        }
        for (const auto& [run, record] : each.records) {
            outputs_.watch.decided(run, record);
        }
        for (const auto& [run, summary] : each.listed) {
            outputs_.watch.listed(run, summary);
        }
        for (const auto& run : each.removed) {
            if (outputs_.removed) {
                outputs_.removed(run);
            }
        }
        for (auto& answer : each.answers) {
            answer(nullptr);
        }
        for (auto& message : each.messages) {
            outputs_.post(std::move(message));
        }
        for (auto& confirmation : each.confirmations) {
            outputs_.post(confirmation);
        }
        for (const auto& [run, key] : each.cancelled) {
            outputs_.cancel(run, key);
        }
        if (!each.calls.empty()) {
            outputs_.dispatch(std::move(each.calls));
        }
    }
}

/// Whoever waits for what was decided since hears that its outcome is unknown.
void Lane::stop(const Error& error) {
    has_stopped_ = true;
    stop_reason_ = error;
    diagnostics_.error("a shard stopped", {{"why", error.message}});
    for (auto& releases : std::exchange(in_flight_, {})) {
        for (auto& each : releases) {
            for (auto& answer : each.answers) {
                answer(&error);
            }
        }
    }
    for (auto& [id, shard] : shards_) {
        shard->abandon(error);
    }
    for (auto& input : backlog_.take_all()) {
        refuse(input, error);
    }
    outputs_.stop(error);
}

std::optional<Nanos> Lane::until_next() {
    if (!leaving_.empty() && in_flight_.empty()) {
        return Nanos{0};
    }
    if (is_full_ && backlog_.empty()) {
        return room_check_interval;
    }
    if (!backlog_.empty()) {
        return in_flight_.size() < limits_.batches_in_flight_max ? std::optional{Nanos{0}}
                                                                 : std::nullopt;
    }
    auto soonest = std::optional<Nanos>{};
    for (auto& [id, shard] : shards_) {
        if (shard->has_turns() || shard->has_changes()) {
            return in_flight_.size() < limits_.batches_in_flight_max ? std::optional{Nanos{0}}
                                                                     : std::nullopt;
        }
        auto next = shard->until_next_timer();
        if (next) {
            soonest = soonest ? std::min(*soonest, *next) : *next;
        }
    }
    return soonest;
}

void Lane::count_commit(const Commit& commit) {
    auto now = LaneStats{.commits = stats_.commits + 1,
                         .commit_bytes = stats_.commit_bytes + commit.bytes(),
                         .backlog = backlog_.size()};
    for (const auto& [id, shard] : shards_) {
        now.events += shard->events();
        now.fired += shard->fired();
        now.quarantined += shard->quarantined();
        now.outbox += shard->outbox_size();
        now.awake_runs += shard->awake_runs();
    }
    auto lock = std::lock_guard{stats_mutex_};
    stats_ = now;
}

LaneStats Lane::stats() const {
    auto lock = std::lock_guard{stats_mutex_};
    return stats_;
}

void Lane::drain() {
    is_draining_ = true;
    for (auto& [id, shard] : shards_) {
        shard->drain({Errc::Unavailable, "the engine stops"});
    }
}

void Lane::sweep() {
    if (is_full_ || is_draining_) {
        return;
    }
    for (auto& [id, shard] : shards_) {
        if (leaving_.contains(id)) {
            continue;
        }
        if (auto swept = shard->sweep_expired(); !swept) {
            stop(swept.error());
            return;
        }
    }
}

} // namespace sluice::engine
