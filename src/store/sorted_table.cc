#include "store/sorted_table.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <mutex>
#include <new>
#include <utility>

#include "base/invariant.h"

namespace sluice::store {

/// A key with its newest value, in one piece of memory: a run has a dozen of them, and a search
/// looks at twenty.
class SortedTable::Entry : public Hook {
public:
    static Entry& create(std::string_view key, std::size_t room, std::pmr::memory_resource& from) {
        INVARIANT(key.size() <= max_bytes && room <= max_bytes, "a store has limits");
        return *new (from.allocate(sizeof(Entry) + key.size() + room, alignof(Entry)))
            Entry{key, room};
    }
    static void destroy(Entry* entry, std::pmr::memory_resource& from) {
        auto bytes = sizeof(Entry) + entry->key_bytes_ + entry->room_;
        entry->~Entry();
        from.deallocate(entry, bytes, alignof(Entry));
    }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

    std::string_view key() const { return {bytes(), key_bytes_}; }
    /// The newest.
    std::optional<std::string_view> value() const {
        return is_removed_ ? std::nullopt
                           : std::optional{std::string_view{bytes() + key_bytes_, value_bytes_}};
    }
    std::optional<std::string_view> value_at(Sequence sequence) const {
        if (sequence_ <= sequence) {
            return value();
        }
        if (older_ != nullptr) {
            for (auto version = older_->rbegin(); version != older_->rend(); ++version) {
                if (version->sequence <= sequence) {
                    return version->value;
                }
            }
        }
        return std::nullopt;
    }
    bool has_room(std::size_t value_bytes) const { return value_bytes <= room_; }
    /// What stood here becomes the newest of the older ones, for as long as a cursor may look.
    void set(std::optional<std::string_view> value, Sequence sequence, Sequence oldest_read) {
        if (sequence_ > 0 && oldest_read < sequence) {
            keep_older();
        }
        sequence_ = sequence;
        is_removed_ = !value;
        value_bytes_ = static_cast<std::uint32_t>(value.value_or("").size());
        if (value_bytes_ > 0) {
            std::memcpy(bytes() + key_bytes_, value->data(), value_bytes_);
        }
    }
    /// Takes the versions over that another of this key has.
    void succeed(Entry& other) {
        other.keep_older();
        older_ = std::move(other.older_);
    }
    /// Drops versions that a newer one hides from every cursor and every reader to come.
    void prune(Sequence oldest_read) {
        if (older_ == nullptr) {
            return;
        }
        if (sequence_ <= oldest_read) {
            older_ = nullptr;
            return;
        }
        auto needed = std::find_if(older_->rbegin(), older_->rend(), [&](const auto& version) {
            return version.sequence <= oldest_read;
        });
        if (needed != older_->rend()) {
            older_->erase(older_->begin(), std::prev(needed.base()));
        }
    }
    bool has_older() const { return older_ != nullptr; }

private:
    static constexpr auto max_bytes = std::numeric_limits<std::uint32_t>::max();

    Entry(std::string_view key, std::size_t room)
        : key_bytes_(static_cast<std::uint32_t>(key.size())),
          room_(static_cast<std::uint32_t>(room)) {
        std::memcpy(bytes(), key.data(), key.size());
    }
    ~Entry() = default;

    char* bytes() { return reinterpret_cast<char*>(this + 1); }
    const char* bytes() const { return reinterpret_cast<const char*>(this + 1); }
    void keep_older() {
        if (older_ == nullptr) {
            older_ = std::make_unique<std::vector<Version>>();
        }
        auto newest = value();
        older_->push_back({sequence_, newest ? std::optional{std::string{*newest}} : std::nullopt});
    }

    Sequence sequence_ = 0;
    std::unique_ptr<std::vector<Version>> older_; // Oldest first.
    std::uint32_t key_bytes_;
    std::uint32_t room_;
    std::uint32_t value_bytes_ = 0;
    bool is_removed_ = true;
};

std::string_view SortedTable::KeyOf::operator()(const Entry& entry) const {
    return entry.key();
}

class SortedTable::Writer final : public Batch {
public:
    explicit Writer(SortedTable& table) : table_(table) {}
    void put(std::string_view key, std::string_view value) override { table_.write(key, value); }
    void remove(std::string_view key) override { table_.write(key, std::nullopt); }
    void remove_range(std::string_view from, std::string_view to) override {
        table_.remove_range(from, to);
    }
    void fence(const Fence& /*fence*/) override {}
    std::size_t bytes() const override { return 0; }
    void clear() override {}

private:
    SortedTable& table_;
};

class SortedTable::TableCursor final : public Cursor {
public:
    TableCursor(const SortedTable& table, std::string_view from, std::string_view to)
        : table_(table), to_(to) {
        auto lock = std::unique_lock{table_.mutex_};
        sequence_ = table_.sequence_;
        place_ = table_.cursors_.insert(sequence_);
        settle(table_.entries_.lower_bound(from));
    }
    ~TableCursor() override {
        auto lock = std::unique_lock{table_.mutex_};
        table_.cursors_.erase(place_);
    }
    TableCursor(const TableCursor&) = delete;
    TableCursor& operator=(const TableCursor&) = delete;

    bool is_valid() const override { return is_valid_; }
    std::string_view key() const override { return key_; }
    std::string_view value() const override { return value_; }
    void next() override {
        auto lock = std::shared_lock{table_.mutex_};
        settle(table_.entries_.upper_bound(std::string_view{key_}));
    }
    Result<void> status() const override { return {}; }

private:
    /// Stands at the first key from here on that was there when the cursor was made.
    void settle(decltype(SortedTable::entries_)::const_iterator at) {
        is_valid_ = false;
        for (; at != table_.entries_.end() && (to_.empty() || at->key() < to_); ++at) {
            if (auto value = at->value_at(sequence_)) {
                key_ = at->key();
                value_ = *value;
                is_valid_ = true;
                return;
            }
        }
    }

    const SortedTable& table_;
    std::string to_;
    Sequence sequence_ = 0;
    std::multiset<Sequence>::iterator place_;
    std::string key_;
    std::string value_;
    bool is_valid_ = false;
};

SortedTable::SortedTable() = default;

SortedTable::~SortedTable() {
    entries_.clear_and_dispose([&](Entry* entry) { Entry::destroy(entry, memory_); });
}

void SortedTable::apply(const FlatBatch& batch) {
    auto lock = std::unique_lock{mutex_};
    ++sequence_;
    auto writer = Writer{*this};
    auto said = replay(batch.data(), writer);
    INVARIANT(said.has_value(), "a batch reads back what it wrote");
    sweep();
}

std::optional<std::string> SortedTable::get(std::string_view key) const {
    auto lock = std::shared_lock{mutex_};
    auto found = entries_.find(key);
    auto value = found != entries_.end() ? found->value() : std::nullopt;
    return value ? std::optional{std::string{*value}} : std::nullopt;
}

std::unique_ptr<Cursor> SortedTable::scan(std::string_view from, std::string_view to) const {
    return std::make_unique<TableCursor>(*this, from, to);
}

std::uint64_t SortedTable::bytes() const {
    auto lock = std::shared_lock{mutex_};
    return bytes_;
}

void SortedTable::write(std::string_view key, std::optional<std::string_view> value) {
    auto place = decltype(entries_)::insert_commit_data{};
    auto [found, is_new] = entries_.insert_check(key, place);
    if (is_new && !value) {
        return;
    }
    auto value_bytes = value.value_or("").size();
    if (is_new) {
        found = entries_.insert_commit(Entry::create(key, value_bytes, memory_), place);
    } else if (auto old = found->value()) {
        bytes_ -= key.size() + old->size();
    }
    bytes_ += value ? key.size() + value_bytes : 0;
    if (!found->has_room(value_bytes)) {
        auto& larger = Entry::create(key, value_bytes, memory_);
        larger.succeed(*found);
        entries_.replace_node(found, larger);
        Entry::destroy(&*found, memory_);
        found = entries_.iterator_to(larger);
    }
    found->set(value, sequence_, oldest_read());
    found->prune(oldest_read());
    if (found->has_older() || !value) {
        stale_.emplace(key);
    }
}

void SortedTable::remove_range(std::string_view from, std::string_view to) {
    for (auto at = entries_.lower_bound(from);
         at != entries_.end() && (to.empty() || at->key() < to); ++at) {
        write(at->key(), std::nullopt);
    }
}

SortedTable::Sequence SortedTable::oldest_read() const {
    return cursors_.empty() ? sequence_ : *cursors_.begin();
}

void SortedTable::sweep() {
    // While the oldest cursor stays, nothing more can go.
    if (oldest_read() == swept_) {
        return;
    }
    swept_ = oldest_read();
    for (auto key = stale_.begin(); key != stale_.end();) {
        auto found = entries_.find(std::string_view{*key});
        found->prune(oldest_read());
        auto is_settled = !found->has_older();
        if (is_settled && !found->value()) {
            entries_.erase_and_dispose(found,
                                       [&](Entry* entry) { Entry::destroy(entry, memory_); });
        }
        key = is_settled ? stale_.erase(key) : std::next(key);
    }
}

} // namespace sluice::store
