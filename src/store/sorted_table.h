#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "store/flat_batch.h"
#include "store/store.h"

namespace sluice::store {

/// Keys and values in memory, in order, with cursors that keep seeing what was there when they were
/// made.
///
/// A key has a version per commit that wrote it, for as long as a cursor may still look at it;
/// without cursors there is one. Any number of threads may read while one applies. The table
/// outlives its cursors.
class SortedTable {
public:
    /// All operations become visible at once.
    void apply(const FlatBatch& batch);

    std::optional<std::string> get(std::string_view key) const;
    std::unique_ptr<Cursor> scan(std::string_view from, std::string_view to) const;
    /// Keys and values that the newest reader sees.
    std::uint64_t bytes() const;

private:
    using Sequence = std::uint64_t;
    using Value = std::shared_ptr<const std::string>;
    struct Version {
        Sequence sequence;
        Value value; // Null: removed.
    };
    using Versions = std::vector<Version>; // Oldest first, never empty.
    class Writer;
    class TableCursor;

    static Value value_at(const Versions& versions, Sequence sequence);
    void write(std::string_view key, Value value);
    void remove_range(std::string_view from, std::string_view to);
    void prune(Versions& versions) const;
    Sequence oldest_read() const;
    void sweep();

    mutable std::shared_mutex mutex_;
    std::map<std::string, Versions, std::less<>> keys_;
    // Keys with versions that only cursors see.
    std::set<std::string, std::less<>> stale_;
    mutable std::multiset<Sequence> cursors_;
    Sequence sequence_ = 0;
    Sequence swept_ = 0;
    std::uint64_t bytes_ = 0;
};

} // namespace sluice::store
