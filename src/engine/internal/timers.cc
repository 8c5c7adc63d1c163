#include "engine/internal/timers.h"

#include <algorithm>

namespace sluice::engine {

namespace {

constexpr auto window_timers = std::size_t{4096};

std::size_t slot_of(bool is_absolute) {
    return is_absolute ? 1 : 0;
}

Time now_in(const trigger::Moment& now, std::size_t slot) {
    return slot == 0 ? now.steady : now.time;
}

} // namespace

void Timers::add(const RunName& run, trigger::TimerNumber number, bool is_absolute, Time due,
                 std::uint64_t commit) {
    auto& domain = domains_[slot_of(is_absolute)];
    auto place = Place{due, run, number};
    domain.unsynced.emplace_back(commit, place);
    if (domain.horizon && due > *domain.horizon) {
        return;
    }
    domain.next.insert(std::move(place));
    // Too many at hand: the last ones are found again in the store.
    while (domain.next.size() > 2 * window_timers) {
        auto last = std::prev(domain.next.end());
        auto before = std::get<0>(*std::prev(last));
        domain.horizon = std::min(before, std::get<0>(*last));
        domain.next.erase(last);
    }
}

void Timers::confirm_synced(std::uint64_t commit) {
    for (auto& domain : domains_) {
        while (!domain.unsynced.empty() && domain.unsynced.front().first <= commit) {
            domain.unsynced.pop_front();
        }
    }
}

Result<void> Timers::load() {
    TRY(fill(keys::TimeDomain::Steady));
    return fill(keys::TimeDomain::Civil);
}

Result<void> Timers::fill(keys::TimeDomain which) {
    auto& domain = domains_[static_cast<std::size_t>(which)];
    auto prefix = keys::timers_in(shard_, which);
    auto cursor = store_.scan(prefix, keys::end_of(prefix));
    domain.horizon.reset();
    for (; cursor->is_valid(); cursor->next()) {
        auto key = Decoder{cursor->key().substr(prefix.size())};
        auto due = Time{Nanos{TRY(key.i64())}};
        // Only whole moments are at hand, so that the horizon divides cleanly.
        if (domain.next.size() >= window_timers && due > std::get<0>(*domain.next.rbegin())) {
            domain.horizon = std::get<0>(*domain.next.rbegin());
            break;
        }
        auto run = TRY(keys::read_run(key));
        domain.next.emplace(due, std::move(run), trigger::TimerNumber{TRY(key.u64())});
    }
    for (const auto& [commit, place] : domain.unsynced) {
        if (!domain.horizon || std::get<0>(place) <= *domain.horizon) {
            domain.next.insert(place);
        }
    }
    return cursor->status();
}

Result<std::vector<DueTimer>> Timers::take_due(const trigger::Moment& now, std::size_t most) {
    auto due = std::vector<DueTimer>{};
    for (auto slot = std::size_t{0}; slot < domains_.size(); ++slot) {
        auto& domain = domains_[slot];
        auto limit = now_in(now, slot);
        while (due.size() < most && !domain.next.empty() &&
               std::get<0>(*domain.next.begin()) <= limit) {
            auto node = domain.next.extract(domain.next.begin());
            due.push_back({.run = std::get<1>(node.value()), .number = std::get<2>(node.value())});
        }
        if (domain.next.empty() && domain.horizon) {
            TRY(fill(static_cast<keys::TimeDomain>(slot)));
        }
    }
    return due;
}

std::optional<Nanos> Timers::until_next(const trigger::Moment& now) const {
    auto soonest = std::optional<Nanos>{};
    for (auto slot = std::size_t{0}; slot < domains_.size(); ++slot) {
        const auto& domain = domains_[slot];
        if (domain.next.empty()) {
            continue;
        }
        auto left = std::max(Nanos{0}, std::get<0>(*domain.next.begin()) - now_in(now, slot));
        soonest = soonest ? std::min(*soonest, left) : left;
    }
    return soonest;
}

} // namespace sluice::engine
