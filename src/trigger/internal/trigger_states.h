#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/fingerprint.h"
#include "value/value.h"

namespace sluice::trigger {

enum class Switch : std::uint8_t { AsWritten, On, Off };

/// What a trigger remembers in one scope.
struct TriggerState {
    Switch enabled = Switch::AsWritten;
    bool is_gone = false;          ///< Transient, and has fired here.
    std::uint64_t progress = 0;    ///< What its condition counts.
    std::uint64_t fired = 0;       ///< How often it fired here.
    std::vector<Fingerprint> seen; ///< Distinct keys its condition has met.
    std::optional<Value> memory;   ///< Its context, once it differs from what the spec gives.

    // Not stored.
    std::uint64_t dirty_since = 0; ///< Batch in which it was last listed as changed.
    enum class Stored : std::uint8_t { Nowhere, Alone, WithGroup };
    Stored stored = Stored::Nowhere;

    /// Nothing but numbers, as of most triggers: such states are stored with their group.
    bool is_plain() const { return seen.empty() && !memory; }

    template <typename Archive>
    void fields(Archive& archive) {
        archive("enabled", enabled)("is_gone", is_gone)("progress", progress)("fired", fired)(
            "seen", seen)("memory", memory);
    }
};

/// What the triggers of one scope remember, by number. Those with neighbouring numbers lie
/// together, because they are stored together.
class TriggerStates {
public:
    static constexpr auto group_bits = 4U;
    static constexpr auto group_size = std::uint32_t{1} << group_bits;
    using Group = std::array<std::unique_ptr<TriggerState>, group_size>;

    /// Over those that are there, in no order: pairs of number and state.
    class Iterator {
    public:
        using Place =
            boost::unordered_flat_map<std::uint32_t, std::unique_ptr<Group>>::const_iterator;

        Iterator(Place at, Place end) : at_(at), end_(end) { settle(); }
        std::pair<std::uint32_t, const TriggerState*> operator*() const {
            return {(at_->first << group_bits) + slot_, (*at_->second)[slot_].get()};
        }
        Iterator& operator++() {
            ++slot_;
            settle();
            return *this;
        }
        bool operator==(const Iterator& other) const {
            return at_ == other.at_ && slot_ == other.slot_;
        }

    private:
        void settle() {
            for (; at_ != end_; ++at_, slot_ = 0) {
                for (; slot_ < group_size; ++slot_) {
                    if ((*at_->second)[slot_]) {
                        return;
                    }
                }
            }
        }

        Place at_;
        Place end_;
        std::uint32_t slot_ = 0;
    };

    Iterator begin() const { return {groups_.begin(), groups_.end()}; }
    Iterator end() const { return {groups_.end(), groups_.end()}; }
    bool empty() const { return groups_.empty(); }
    void clear() { groups_.clear(); }

    static std::uint32_t group_of(std::uint32_t number) { return number >> group_bits; }
    /// Null when none of the group is there.
    const Group* group(std::uint32_t group) const {
        auto found = groups_.find(group);
        return found == groups_.end() ? nullptr : found->second.get();
    }
    /// Null when it is not there.
    TriggerState* find(std::uint32_t number) const {
        const auto* members = group(group_of(number));
        return members == nullptr ? nullptr : (*members)[number % group_size].get();
    }
    /// Made when it is not there.
    TriggerState& operator[](std::uint32_t number) {
        auto& members = groups_[group_of(number)];
        if (!members) {
            members = std::make_unique<Group>();
        }
        auto& state = (*members)[number % group_size];
        if (!state) {
            state = std::make_unique<TriggerState>();
        }
        return *state;
    }

private:
    boost::unordered_flat_map<std::uint32_t, std::unique_ptr<Group>> groups_;
};

} // namespace sluice::trigger
