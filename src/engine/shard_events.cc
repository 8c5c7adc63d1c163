#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "engine/quarantine.h"
#include "engine/shard.h"

// What a shard does with events from outside: those of callers, and those of numbered partitions,
// which it takes in order and each once.
namespace sluice::engine {
namespace {

constexpr auto events_ahead = std::size_t{3};
constexpr auto cache_line_bytes = std::size_t{64};
constexpr auto attribute_bytes = 2 * cache_line_bytes;

void fetch(const void* begin, std::size_t size) {
    for (auto byte = std::size_t{0}; byte < size; byte += cache_line_bytes) {
        __builtin_prefetch(static_cast<const char*>(begin) + byte);
    }
}

/// Another thread wrote the events, and ids lie anywhere in memory: what the next ones need comes
/// while this one is decided, first the event, then what it points to. Of text that history keeps
/// as it is packed, attributes are looked at, which mostly stand first.
void fetch_ahead(const AwakeRun* run, const EventsInput& input, std::size_t at) {
    const auto& events = input.events;
    if (at + 2 * events_ahead < events.size()) {
        fetch(&events[at + 2 * events_ahead], sizeof(event::Event));
    }
    if (at + events_ahead < events.size()) {
        const auto& event = events[at + events_ahead];
        auto text = event.json().substr(0, input.packed ? attribute_bytes : std::string_view::npos);
        fetch(text.data(), text.size());
        if (run != nullptr) {
            run->state->seen.prefetch(event.identity());
        }
    }
}

} // namespace

const Value* Receipt::reply_to(std::size_t event) const {
    auto found = std::ranges::find(replies, event, &Reply::event);
    return found == replies.end() ? nullptr : &found->data;
}

/// A numbered stream waits at the first event that is refused; none is skipped.
bool Shard::is_behind_refused(const EventsInput& input) {
    auto refused = refused_at_.find(input.partition);
    if (refused == refused_at_.end() || input.numbers.empty()) {
        return false;
    }
    if (input.numbers.front() > refused->second) {
        return true;
    }
    refused_at_.erase(refused);
    return false;
}

void Shard::note_refused(const EventsInput& input) {
    auto position = positions_.find(input.partition);
    auto taken = position == positions_.end() ? 0 : position->second;
    auto first = std::ranges::upper_bound(input.numbers, taken);
    if (first != input.numbers.end()) {
        refused_at_.try_emplace(input.partition, *first);
    }
}

void Shard::refuse(EventsInput& input, const Error& error) {
    release_.answers.emplace_back([done = std::exchange(input.done, nullptr),
                                   error](const Error*) mutable { done(std::unexpected(error)); });
}

Result<void> Shard::take_events(EventsInput&& input) {
    if (auto blocked = blocked_.find(input.partition); blocked != blocked_.end()) {
        blocked->second.inputs.push_back(std::move(input));
        return {};
    }
    if (is_behind_refused(input)) {
        refuse(input, {Errc::Unavailable,
                       fmt::format("{} stands at an event that was refused", input.partition)});
        return {};
    }
    if (!input.partition.empty()) {
        return take_numbered(std::move(input));
    }
    auto receipt = Receipt{};
    receipt.fates.reserve(input.events.size());
    AwakeRun* run = nullptr;
    for (auto at = std::size_t{0}; at < input.events.size(); ++at) {
        fetch_ahead(run, input, at);
        TRY(find_run(input.space, input.events[at], run));
        receipt.fates.push_back(decide_outside(run, input.events[at], receipt));
    }
    answer_events(std::move(input.done), std::move(receipt));
    return {};
}

Result<void> Shard::take_numbered(EventsInput&& input) {
    auto receipt = Receipt{};
    receipt.fates.reserve(input.events.size());
    auto& position = positions_[input.partition];
    auto position_before = position;
    auto quarantined_before = quarantined_;
    AwakeRun* run = nullptr;
    auto at = std::size_t{0};
    for (auto is_going_on = true; is_going_on && at < input.events.size();) {
        if (input.numbers[at] <= position) {
            receipt.fates.push_back(trigger::Fate::Duplicate);
            ++at;
            continue;
        }
        fetch_ahead(run, input, at);
        TRY(find_run(input.space, input.events[at], run));
        if (run != nullptr && input.packed) {
            run->journal.lend(input.packed);
        }
        receipt.fates.push_back(decide_outside(run, input.events[at], receipt));
        is_going_on = is_passed(input, at, receipt.fates.back());
        if (is_going_on) {
            // An event that goes to several runs has been taken when all of them have it.
            auto number = input.numbers[at++];
            auto has_more = at < input.numbers.size() && input.numbers[at] == number;
            position = has_more ? position : number;
        }
    }
    if (position != position_before) {
        if (!input.is_counted) {
            moved_positions_.insert(input.partition);
        }
        has_changes_ = true;
    }
    if (quarantined_ != quarantined_before) {
        services_.diagnostics.warn(
            "events that no run was there for were set aside",
            {{"partition", input.partition}, {"events", quarantined_ - quarantined_before}});
    }
    if (at < input.events.size()) {
        stand_at(std::move(input), at, receipt.fates.back());
    } else {
        answer_events(std::move(input.done), std::move(receipt));
    }
    return {};
}

/// Null when there is none. The run of the event before is at hand.
Result<void> Shard::find_run(const std::string& space, const event::Event& event, AwakeRun*& run) {
    if (event.run().empty()) {
        run = nullptr;
    } else if (run == nullptr || run->name.id != event.run()) {
        run = TRY(runs_.find({.space = space, .id = std::string{event.run()}}));
    }
    return {};
}

/// As the next of those in the receipt.
trigger::Fate Shard::decide_outside(AwakeRun* run, event::Event& event, Receipt& receipt) {
    if (run == nullptr) {
        return trigger::Fate::NoSuchRun;
    }
    reply_.reset();
    // Lent: whoever parsed it counts its owners too, on another thread.
    outside_.event = std::move(event);
    outside_.moment = moment_;
    auto fate = decide(*run, outside_);
    event = std::move(outside_.event);
    if (reply_) {
        receipt.replies.push_back({.event = receipt.fates.size(), .data = *std::move(reply_)});
    }
    return fate;
}

/// Whether a numbered stream may go on behind an event with this fate.
bool Shard::is_passed(const EventsInput& input, std::size_t at, trigger::Fate fate) {
    if (fate == trigger::Fate::NoSuchRun) {
        return quarantine(input, at);
    }
    return fate != trigger::Fate::Refused && fate != trigger::Fate::Busy;
}

void Shard::answer_events(Accepted done, Receipt receipt) {
    if (done) {
        release_.answers.emplace_back(
            [done = std::move(done), receipt = std::move(receipt)](const Error* error) mutable {
                error == nullptr ? done(std::move(receipt)) : done(std::unexpected(*error));
            });
    }
}

/// The stream goes on here later: by itself when the run has room, or when its source is fed anew.
void Shard::stand_at(EventsInput&& input, std::size_t at, trigger::Fate fate) {
    auto run = RunName{.space = input.space, .id = std::string{input.events[at].run()}};
    input.packed.reset(); // Else each commit that takes some of the rest would hold all of it.
    if (fate == trigger::Fate::Busy && !is_draining_) {
        auto& blocked = blocked_[input.partition];
        blocked = {.run = std::move(run), .bytes = input.events[at].json().size(), .inputs = {}};
        services_.diagnostics.info("a source waits: its run keeps as many events as it may",
                                   {{"partition", input.partition}, {"run", blocked.run.id}});
        blocked.inputs.push_back(std::move(input));
        return;
    }
    refused_at_[input.partition] = input.numbers[at];
    if (fate != trigger::Fate::NoSuchRun) {
        refuse(input, {Errc::Unavailable,
                       fmt::format("run \"{}\" keeps as many events as it may", run.id)});
    } else {
        refuse(input,
               {Errc::LimitExceeded,
                fmt::format("there is no run \"{}\", and {} events are in quarantine already",
                            run.id, quarantined_)});
    }
}

void Shard::unblock(const RunName& run) {
    for (const auto& [partition, blocked] : blocked_) {
        if (blocked.run == run) {
            unblocked_.insert(partition);
        }
    }
}

void Shard::unblock_if_room(const AwakeRun& run) {
    for (const auto& [partition, blocked] : blocked_) {
        if (blocked.run == run.name &&
            (run.state->has_ended() ||
             trigger::has_room_to_keep(*run.state, run.triggers->spec(), blocked.bytes))) {
            unblocked_.insert(partition);
        }
    }
}

Result<void> Shard::take_unblocked() {
    for (const auto& partition : std::exchange(unblocked_, {})) {
        auto blocked = blocked_.extract(partition);
        if (blocked.empty()) {
            continue;
        }
        for (auto& input : blocked.mapped().inputs) {
            TRY(take_events(std::move(input)));
        }
    }
    return {};
}

void Shard::give_back(const std::string& partition, const Error& error) {
    auto blocked = blocked_.extract(partition);
    if (blocked.empty()) {
        return;
    }
    for (auto& input : blocked.mapped().inputs) {
        note_refused(input); // The first of them stands: it is the one that was blocked.
        if (input.done) {
            input.done(std::unexpected(error));
        }
    }
}

void Shard::drain(const Error& error) {
    is_draining_ = true;
    while (!blocked_.empty()) {
        give_back(std::string{blocked_.begin()->first}, error);
    }
}

void Shard::move_position(MoveInput&& input) {
    if (blocked_.contains(input.partition) || refused_at_.contains(input.partition)) {
        answer_later(
            std::move(input.done),
            fail(Errc::Unavailable, "{} stands at an event that was not taken", input.partition));
        return;
    }
    auto& position = positions_[input.partition];
    if (input.number > position) {
        position = input.number;
        moved_positions_.insert(input.partition);
        has_changes_ = true;
    }
    answer_later(std::move(input.done), Value{});
}

/// False when there is no room for it.
bool Shard::quarantine(const EventsInput& input, std::size_t at) {
    if (quarantined_ >= quarantine_events_max) {
        return false;
    }
    ++quarantined_;
    const auto& event = input.events[at];
    auto record = encode_quarantined({.space = input.space,
                                      .run = std::string{event.run()},
                                      .partition = input.partition,
                                      .number = input.numbers[at],
                                      .since = moment_.time,
                                      .json = std::string{event.json()}});
    puts_.emplace_back(keys::quarantined(id_, moment_.time, input.numbers[at], input.partition),
                       std::move(record));
    return true;
}

/// What nobody looked at for as long as runs are kept goes.
Result<void> Shard::sweep_quarantine() {
    auto prefix = keys::table(id_, 'Q');
    auto cursor = services_.store.scan(prefix, keys::end_of(prefix));
    for (auto count = 0; cursor->is_valid() && count < 100; cursor->next(), ++count) {
        auto key = Decoder{cursor->key().substr(prefix.size())};
        if (Time{Nanos{TRY(key.i64())}} + services_.retention > moment_.time) {
            break;
        }
        puts_.emplace_back(std::string{cursor->key()}, "");
        has_changes_ = true;
        --quarantined_;
    }
    return cursor->status();
}

} // namespace sluice::engine
