#pragma once

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include <boost/intrusive/set.hpp>

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
    SortedTable();
    ~SortedTable();
    SortedTable(const SortedTable&) = delete;
    SortedTable& operator=(const SortedTable&) = delete;

    /// All operations become visible at once.
    void apply(const FlatBatch& batch);

    std::optional<std::string> get(std::string_view key) const;
    std::unique_ptr<Cursor> scan(std::string_view from, std::string_view to) const;
    /// Keys and values that the newest reader sees.
    std::uint64_t bytes() const;

private:
    using Sequence = std::uint64_t;
    struct Version {
        Sequence sequence = 0;
        std::optional<std::string> value; ///< Nothing: removed.
    };
    class Entry;
    struct KeyOf {
        using type = std::string_view;
        type operator()(const Entry& entry) const;
    };
    using Hook = boost::intrusive::set_base_hook<boost::intrusive::optimize_size<true>>;
    class Writer;
    class TableCursor;

    void write(std::string_view key, std::optional<std::string_view> value);
    void remove_range(std::string_view from, std::string_view to);
    Sequence oldest_read() const;
    void sweep();

    mutable std::shared_mutex mutex_;
    std::pmr::unsynchronized_pool_resource memory_; ///< Of the entries.
    boost::intrusive::set<Entry, boost::intrusive::base_hook<Hook>,
                          boost::intrusive::key_of_value<KeyOf>>
        entries_;
    // Keys with versions that only cursors see.
    std::set<std::string, std::less<>> stale_;
    mutable std::multiset<Sequence> cursors_;
    Sequence sequence_ = 0;
    Sequence swept_ = 0;
    std::uint64_t bytes_ = 0;
};

} // namespace sluice::store
