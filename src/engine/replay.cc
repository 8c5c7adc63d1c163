#include <algorithm>
#include <deque>
#include <utility>

#include <fmt/format.h>

#include "engine/inspector.h"
#include "event/codec.h"
#include "trigger/apply.h"
#include "trigger/decider.h"
#include "trigger/state_image.h"
#include "value/json.h"

namespace sluice::engine {

namespace {

constexpr auto differences_max = std::size_t{20};

std::string describe(const trigger::Entry& entry) {
    auto text = fmt::format("{}", to_string(entry.fate));
    for (const auto& change : entry.changes) {
        text += fmt::format("; {}", value::to_json(trigger::to_value(change)));
    }
    return text;
}

/// What a start or a fork brought along stands in the change it became.
template <typename Kind>
std::optional<Kind> brought(const trigger::Entry& entry) {
    for (const auto& change : entry.changes) {
        if (const auto* found = std::get_if<Kind>(&change)) {
            return *found;
        }
    }
    return std::nullopt;
}

/// An event that was set aside is not decided again.
const trigger::Faulted* set_aside(const trigger::Entry& entry) {
    for (const auto& change : entry.changes) {
        const auto* fault = std::get_if<trigger::Faulted>(&change);
        if (fault != nullptr && fault->code == "set_aside") {
            return fault;
        }
    }
    return nullptr;
}

/// Decides recorded arrivals again and holds each entry against the recorded one.
class Replayer {
public:
    Replayer(const RunName& run, std::shared_ptr<const trigger::TriggerSet> set,
             const trigger::Vocabulary& vocabulary, const trigger::DecideLimits& limits,
             trigger::Listener* listener)
        : triggers_(std::move(set), vocabulary), limits_(limits), listener_(listener) {
        state_.id = run.id;
    }

    Result<void> begin_at(const Checkpoint& checkpoint) {
        report_.from = checkpoint.event.raw();
        TRY(trigger::decode_image(checkpoint.image, state_));
        state_.mark_clean();
        return triggers_.restore(state_);
    }

    Result<void> take(const trigger::Entry& entry) {
        ++report_.events;
        report_.is_same_software &= entry.software == trigger::software_number;
        if (decided_.empty()) {
            TRY(decide(entry));
        }
        if (decided_.empty()) {
            differ(entry, "nothing", describe(entry));
            return {};
        }
        auto again = std::move(decided_.front());
        decided_.pop_front();
        auto is_same =
            again.number == entry.number && again.origin == entry.origin &&
            again.fate == entry.fate &&
            trigger::encode_changes(again.changes) == trigger::encode_changes(entry.changes);
        if (!is_same) {
            differ(entry, describe(again), describe(entry));
        }
        return {};
    }

    ReplayReport report() && {
        if (!decided_.empty()) {
            differ(decided_.front(), describe(decided_.front()), "nothing");
        }
        return std::move(report_);
    }

private:
    Result<void> decide(const trigger::Entry& entry) {
        auto journal = trigger::Journal{};
        auto decider = trigger::Decider{state_, triggers_, journal, codec_, limits_};
        decider.set_listener(listener_);
        auto renewal = brought<trigger::Renewed>(entry);
        if (entry.origin == trigger::Origin::Own || entry.origin == trigger::Origin::Kept ||
            (renewal && state_.progress.renewal)) {
            decider.settle_queue(entry.moment);
        } else {
            auto owner = std::make_shared<std::string>(entry.json);
            owner->append(event::Codec::padding_bytes, '\0');
            auto text = std::string_view{*owner}.substr(0, entry.json.size());
            auto event = TRY(codec_.parse_trusted(text, owner));
            auto arrival = trigger::Arrival{.origin = entry.origin,
                                            .event = std::move(event),
                                            .moment = entry.moment,
                                            .refs = entry.refs,
                                            .start = brought<trigger::Began>(entry),
                                            .fork = brought<trigger::Forked>(entry),
                                            .renewal = std::move(renewal)};
            if (report_.from > 0 && entry.fate == trigger::Fate::Duplicate) {
                decider.note_seen(arrival.event);
            }
            const auto* reason = set_aside(entry);
            reason == nullptr ? decider.decide(arrival)
                              : decider.set_aside(arrival, reason->message);
            if (arrival.fork || arrival.renewal) {
                TRY(triggers_.restore(state_));
            }
        }
        if (journal.is_empty()) {
            return {};
        }
        auto entries = TRY(trigger::decode_record(journal.record(entry.moment)));
        std::ranges::move(entries, std::back_inserter(decided_));
        state_.mark_clean();
        return {};
    }

    void differ(const trigger::Entry& entry, const std::string& now, const std::string& then) {
        ++report_.difference_count;
        if (report_.differences.size() < differences_max) {
            report_.differences.push_back(
                {.event = entry.number,
                 .what = fmt::format("recorded {}, decided now {}", then, now)});
        }
    }

    trigger::RunState state_;
    trigger::RunTriggers triggers_;
    event::Codec codec_;
    trigger::DecideLimits limits_;
    trigger::Listener* listener_;
    bool has_begun_ = false;
    std::deque<trigger::Entry> decided_;
    ReplayReport report_;
};

} // namespace

/// Where to begin: the checkpoint asked for, or what is left of a history whose beginning went.
Result<std::optional<Checkpoint>> beginning_of(const Inspector& inspector, const RunName& run,
                                               trigger::EventNumber from) {
    auto checkpoint = TRY(inspector.checkpoint(run, from));
    auto first = TRY(inspector.first_event(run));
    if (checkpoint || !first || first->raw() == 1) {
        return checkpoint;
    }
    return inspector.checkpoint(run, trigger::EventNumber{first->raw() - 1});
}

Result<ReplayReport> replay(Inspector& inspector, const RunName& run,
                            const trigger::DecideLimits& limits, trigger::EventNumber from,
                            trigger::Listener* listener) {
    auto state = TRY(inspector.run(run));
    auto checkpoint = TRY(beginning_of(inspector, run, from));
    auto set = std::shared_ptr<const trigger::TriggerSet>{};
    if (state->info.set.empty()) {
        auto problems = std::vector<trigger::Problem>{};
        set = trigger::TriggerSet::compile({}, inspector.catalog().vocabulary(), problems);
    } else {
        set = TRY(inspector.catalog().set(state->info.set));
    }
    auto replayer =
        Replayer{run, std::move(set), inspector.catalog().vocabulary(), limits, listener};
    auto first = trigger::EventNumber{1};
    if (checkpoint) {
        TRY(replayer.begin_at(*checkpoint));
        first = trigger::EventNumber{checkpoint->event.raw() + 1};
    }
    auto taken = Result<void>{};
    auto take = [&](const trigger::Entry& entry) {
        taken = replayer.take(entry);
        return taken.has_value();
    };
    TRY(inspector.read_history(run, take, first));
    TRY(std::move(taken));
    return std::move(replayer).report();
}

Result<trigger::EventNumber> event_before_success(const Inspector& inspector, const RunName& run) {
    auto state = TRY(inspector.run(run));
    if (state->progress.status != trigger::Status::Succeeded) {
        return fail(Errc::Conflict, "run \"{}\" has not succeeded", run.id);
    }
    auto ended = std::uint64_t{0};
    auto look = [&](const trigger::Entry& entry) {
        auto is_end = std::ranges::any_of(entry.changes, [](const trigger::Change& change) {
            return std::holds_alternative<trigger::Ended>(change);
        });
        ended = is_end ? entry.number.raw() : ended;
        return true;
    };
    // Behind the end comes only what clears up: it is found from there.
    auto events = state->progress.events;
    for (auto span = std::uint64_t{64}; ended == 0; span *= 16) {
        auto from = events > span ? events - span : 0;
        TRY(inspector.read_history(run, look, trigger::EventNumber{from}));
        if (from == 0) {
            break;
        }
    }
    if (ended < 2) {
        return fail(Errc::NotFound, "run \"{}\" has nothing before its end that is kept", run.id);
    }
    return trigger::EventNumber{ended - 1};
}

Result<PastState> state_at(const Inspector& inspector, const RunName& run,
                           trigger::EventNumber event) {
    auto past = PastState{.state = std::make_unique<trigger::RunState>()};
    past.state->id = run.id;
    auto at = std::uint64_t{0};
    if (auto checkpoint = TRY(inspector.checkpoint(run, event))) {
        TRY(trigger::decode_image(checkpoint->image, *past.state));
        past.state->mark_clean();
        past.moment = checkpoint->moment;
        at = checkpoint->event.raw();
    }
    auto first = std::uint64_t{0};
    auto fold = [&](const trigger::Entry& entry) {
        first = first == 0 ? entry.number.raw() : first;
        // What lies before is gone, or the event asked for is between a fork and its first own.
        if (entry.number.raw() != past.state->progress.events + 1 || entry.number > event) {
            return false;
        }
        trigger::fold(*past.state, entry);
        past.moment = entry.moment;
        at = entry.number.raw();
        return at != event.raw();
    };
    if (at != event.raw()) {
        TRY(inspector.read_history(run, fold, trigger::EventNumber{at + 1}));
    }
    if (at == event.raw() && at > 0) {
        return past;
    }
    TRY(inspector.run(run)); // Better said when it is the run that is missing.
    if (first > event.raw()) {
        return fail(Errc::NotFound,
                    "event {} of run \"{}\" is no longer kept: its history begins "
                    "at {}",
                    event.raw(), run.id, first);
    }
    return fail(Errc::NotFound, "run \"{}\" has no event {}", run.id, event.raw());
}

} // namespace sluice::engine
