#include "store/sorted_table.h"

#include <algorithm>
#include <mutex>

#include "base/invariant.h"

namespace sluice::store {

class SortedTable::Writer final : public Batch {
public:
    explicit Writer(SortedTable& table) : table_(table) {}
    void put(std::string_view key, std::string_view value) override {
        table_.write(key, std::make_shared<const std::string>(value));
    }
    void remove(std::string_view key) override { table_.write(key, nullptr); }
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
        settle(table_.keys_.lower_bound(from));
    }
    ~TableCursor() override {
        auto lock = std::unique_lock{table_.mutex_};
        table_.cursors_.erase(place_);
    }
    TableCursor(const TableCursor&) = delete;
    TableCursor& operator=(const TableCursor&) = delete;

    bool is_valid() const override { return value_ != nullptr; }
    std::string_view key() const override { return key_; }
    std::string_view value() const override { return *value_; }
    void next() override {
        auto lock = std::shared_lock{table_.mutex_};
        settle(table_.keys_.upper_bound(key_));
    }
    Result<void> status() const override { return {}; }

private:
    /// Stands at the first key from here on that was there when the cursor was made.
    void settle(decltype(SortedTable::keys_)::const_iterator at) {
        value_ = nullptr;
        for (; at != table_.keys_.end() && (to_.empty() || at->first < to_); ++at) {
            value_ = value_at(at->second, sequence_);
            if (value_ != nullptr) {
                key_ = at->first;
                return;
            }
        }
    }

    const SortedTable& table_;
    std::string to_;
    Sequence sequence_ = 0;
    std::multiset<Sequence>::iterator place_;
    std::string key_;
    Value value_;
};

void SortedTable::apply(const FlatBatch& batch) {
    auto lock = std::unique_lock{mutex_};
    ++sequence_;
    auto writer = Writer{*this};
    auto said = replay(batch.data(), writer);
    INVARIANT(said.has_value(), "a batch reads back what it wrote");
    sweep();
}

std::optional<std::string> SortedTable::get(std::string_view key) const {
    auto value = Value{};
    {
        auto lock = std::shared_lock{mutex_};
        auto found = keys_.find(key);
        if (found == keys_.end()) {
            return std::nullopt;
        }
        value = found->second.back().value;
    }
    return value != nullptr ? std::optional{*value} : std::nullopt;
}

std::unique_ptr<Cursor> SortedTable::scan(std::string_view from, std::string_view to) const {
    return std::make_unique<TableCursor>(*this, from, to);
}

std::uint64_t SortedTable::bytes() const {
    auto lock = std::shared_lock{mutex_};
    return bytes_;
}

SortedTable::Value SortedTable::value_at(const Versions& versions, Sequence sequence) {
    for (auto version = versions.rbegin(); version != versions.rend(); ++version) {
        if (version->sequence <= sequence) {
            return version->value;
        }
    }
    return nullptr;
}

void SortedTable::write(std::string_view key, Value value) {
    auto found = keys_.find(key);
    if (found == keys_.end()) {
        if (value == nullptr) {
            return;
        }
        found = keys_.emplace(std::string{key}, Versions{}).first;
    }
    auto& versions = found->second;
    if (!versions.empty() && versions.back().value != nullptr) {
        bytes_ -= key.size() + versions.back().value->size();
    }
    bytes_ += value != nullptr ? key.size() + value->size() : 0;
    versions.push_back({sequence_, std::move(value)});
    prune(versions);
    if (versions.size() > 1 || versions.back().value == nullptr) {
        stale_.emplace(key);
    }
}

void SortedTable::remove_range(std::string_view from, std::string_view to) {
    auto keys = std::vector<std::string>{};
    for (auto at = keys_.lower_bound(from); at != keys_.end() && (to.empty() || at->first < to);
         ++at) {
        keys.push_back(at->first);
    }
    for (const auto& key : keys) {
        write(key, nullptr);
    }
}

/// Drops versions that a newer one hides from every cursor and every reader to come.
void SortedTable::prune(Versions& versions) const {
    auto first_needed = std::find_if(versions.rbegin(), versions.rend(), [&](const auto& version) {
        return version.sequence <= oldest_read();
    });
    if (first_needed != versions.rend()) {
        versions.erase(versions.begin(), std::prev(first_needed.base()));
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
        auto found = keys_.find(*key);
        prune(found->second);
        auto is_settled = found->second.size() == 1;
        if (is_settled && found->second.back().value == nullptr) {
            keys_.erase(found);
        }
        key = is_settled ? stale_.erase(key) : std::next(key);
    }
}

} // namespace sluice::store
