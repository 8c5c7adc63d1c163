#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/fingerprint.h"
#include "base/fingerprint_set.h"

namespace sluice::trigger {

/// The ids of outside events that a run has seen, in periods, so that old ones are forgotten
/// together and nothing has to remember the age of each.
class SeenIds {
public:
    /// False when it is there already. A period that began `span` ago takes no more.
    bool add(const Fingerprint& print, Time now, Nanos span);
    /// It will be added soon.
    void prefetch(const Fingerprint& print) const {
        if (!periods_.empty()) {
            periods_.back().ids.prefetch(print);
        }
    }
    /// It was added last, and may come again.
    void take_back(const Fingerprint& print);
    /// Where the oldest period ends at the latest; nothing while none has ended.
    std::optional<Time> oldest_end(Nanos span) const;
    void forget_oldest();
    void forget_all();
    std::size_t size() const { return size_; }

    // What a commit writes: one record of what was added, under a number that rises.
    bool has_added() const { return !added_.empty(); }
    std::span<const Fingerprint> added() const { return added_; }
    /// When the period began that they belong to: those of one commit have one moment.
    Time added_period() const { return periods_.back().since; }
    /// Records up to this number hold forgotten ids alone.
    std::optional<std::uint64_t> forgotten_records() const { return forgotten_records_; }
    void mark_written(std::uint64_t record);
    /// One record, read back, in the order of their numbers.
    void restore(std::uint64_t record, Time period, std::span<const Fingerprint> prints);

private:
    struct Period {
        Time since{};
        std::uint64_t last_record = 0;
        FingerprintSet ids;
    };

    bool is_in_earlier_period(const Fingerprint& print) const;

    std::vector<Period> periods_; ///< Oldest first.
    std::size_t size_ = 0;
    std::vector<Fingerprint> added_; ///< Since the last commit.
    std::optional<std::uint64_t> forgotten_records_;
};

} // namespace sluice::trigger
