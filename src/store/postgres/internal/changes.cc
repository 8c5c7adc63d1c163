#include "store/postgres/internal/changes.h"

#include <algorithm>
#include <cstdint>

#include "store/flat_batch.h"

namespace sluice::store::postgres {
namespace {

struct KeyChange {
    std::string_view key;
    std::optional<std::string_view> value;
    std::size_t number;
};

struct RangeRemoval {
    std::string_view from;
    std::string_view to; ///< Empty: to the end.
    std::size_t number;
};

/// Hears the operations of a batch and numbers them.
class Listener final : public Batch {
public:
    void put(std::string_view key, std::string_view value) override {
        key_max_ = std::max(key_max_, key.size());
        value_max_ = std::max(value_max_, value.size());
        changes.push_back({key, value, number_++});
    }
    void remove(std::string_view key) override { changes.push_back({key, {}, number_++}); }
    void remove_range(std::string_view from, std::string_view to) override {
        if (to.empty() || from < to) {
            ranges.push_back({from, to, number_++});
        }
    }
    void fence(const Fence& /*fence*/) override {}
    std::size_t bytes() const override { return 0; }
    void clear() override {}

    Result<void> check_sizes() const {
        if (key_max_ > key_bytes_max || value_max_ > value_bytes_max) {
            return fail(
                Errc::LimitExceeded,
                "a key of {} bytes or a value of {} bytes; PostgreSQL takes up to {} and {}",
                key_max_, value_max_, key_bytes_max, value_bytes_max);
        }
        return {};
    }

    std::vector<KeyChange> changes;
    std::vector<RangeRemoval> ranges;

private:
    std::size_t number_ = 0;
    std::size_t key_max_ = 0;
    std::size_t value_max_ = 0;
};

/// Sorted by key, the last change of each.
void keep_last(std::vector<KeyChange>& changes) {
    auto before = [](const KeyChange& left, const KeyChange& right) {
        auto order = left.key <=> right.key;
        return order != 0 ? order < 0 : left.number > right.number;
    };
    if (!std::ranges::is_sorted(changes, before)) {
        std::ranges::sort(changes, before);
    }
    auto gone = std::ranges::unique(changes, {}, &KeyChange::key);
    changes.erase(gone.begin(), gone.end());
}

/// Without those that a later removal of a range makes void.
void drop_covered(std::vector<KeyChange>& changes, const std::vector<RangeRemoval>& ranges) {
    auto is_void = std::vector<bool>(changes.size());
    for (const auto& range : ranges) {
        auto at = std::ranges::lower_bound(changes, range.from, {}, &KeyChange::key);
        for (; at != changes.end() && (range.to.empty() || at->key < range.to); ++at) {
            if (at->number < range.number) {
                is_void[static_cast<std::size_t>(at - changes.begin())] = true;
            }
        }
    }
    auto index = std::size_t{0};
    std::erase_if(changes, [&](const KeyChange&) { return is_void[index++]; });
}

void join_ranges(std::vector<RangeRemoval>& ranges, Changes& into) {
    std::ranges::sort(ranges, {}, &RangeRemoval::from);
    for (const auto& range : ranges) {
        if (into.tail) {
            return;
        }
        auto* last = into.ranges.empty() ? nullptr : &into.ranges.back();
        auto goes_on = last != nullptr && range.from <= last->second;
        if (range.to.empty()) {
            into.tail = goes_on ? last->first : range.from;
            if (goes_on) {
                into.ranges.pop_back();
            }
        } else if (goes_on) {
            last->second = std::max(last->second, range.to);
        } else {
            into.ranges.emplace_back(range.from, range.to);
        }
    }
}

} // namespace

Result<Changes> changes_of(std::string_view data) {
    auto heard = Listener{};
    TRY(replay(data, heard));
    TRY(heard.check_sizes());

    keep_last(heard.changes);
    auto changes = Changes{};
    if (!heard.ranges.empty()) {
        drop_covered(heard.changes, heard.ranges);
        join_ranges(heard.ranges, changes);
    }
    for (const auto& change : heard.changes) {
        if (change.value) {
            changes.puts.emplace_back(change.key, *change.value);
        } else if (change.key.size() <= key_bytes_max) {
            changes.removals.push_back(change.key);
        }
    }
    return changes;
}

} // namespace sluice::store::postgres
