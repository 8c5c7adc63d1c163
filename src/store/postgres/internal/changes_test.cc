#include "store/postgres/internal/changes.h"

#include <map>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/random.h"
#include "store/flat_batch.h"

namespace sluice::store::postgres {
namespace {

using Table = std::map<std::string, std::string, std::less<>>;

void erase_range(Table& table, std::string_view from, std::string_view to) {
    if (to.empty() || from < to) {
        table.erase(table.lower_bound(from), to.empty() ? table.end() : table.lower_bound(to));
    }
}

/// Does one operation after the other.
class Applier final : public Batch {
public:
    explicit Applier(Table& table) : table_(table) {}
    void put(std::string_view key, std::string_view value) override {
        table_.insert_or_assign(std::string{key}, std::string{value});
    }
    void remove(std::string_view key) override { table_.erase(std::string{key}); }
    void remove_range(std::string_view from, std::string_view to) override {
        erase_range(table_, from, to);
    }
    void fence(const Fence& /*fence*/) override {}
    std::size_t bytes() const override { return 0; }
    void clear() override {}

private:
    Table& table_;
};

void apply_changes(const Changes& changes, Table& table) {
    for (const auto& [from, to] : changes.ranges) {
        erase_range(table, from, to);
    }
    if (changes.tail) {
        erase_range(table, *changes.tail, {});
    }
    for (auto key : changes.removals) {
        table.erase(std::string{key});
    }
    for (const auto& [key, value] : changes.puts) {
        table.insert_or_assign(std::string{key}, std::string{value});
    }
}

std::string some_key(Random& random) {
    auto key = std::string(random.below(3), ' ');
    for (auto& byte : key) {
        byte = static_cast<char>('a' + random.below(4));
    }
    return key;
}

void add_some_operation(FlatBatch& batch, Random& random) {
    switch (random.below(5)) {
        case 0: batch.remove(some_key(random)); break;
        case 1: batch.remove_range(some_key(random), some_key(random)); break;
        default: batch.put(some_key(random), std::to_string(random.below(1000)));
    }
}

RC_GTEST_PROP(Changes, LeaveWhatTheOperationsInOrderWouldHaveLeft, (std::uint64_t seed)) {
    auto random = Random{seed};
    auto before = Table{};
    for (auto left = random.below(20); left > 0; --left) {
        before.insert_or_assign(some_key(random), "old");
    }
    auto batch = FlatBatch{};
    for (auto left = random.below(30); left > 0; --left) {
        add_some_operation(batch, random);
    }

    auto expected = before;
    auto applier = Applier{expected};
    RC_ASSERT(replay(batch.data(), applier).has_value());
    auto changes = changes_of(batch.data());
    RC_ASSERT(changes.has_value());
    auto found = before;
    apply_changes(*changes, found);

    RC_ASSERT(found == expected);
}

TEST(Changes, NameAKeyOnceAndInOrder) {
    auto batch = FlatBatch{};
    for (auto key : {"c", "a", "c", "b"}) {
        batch.put(key, key);
    }
    batch.remove("b");
    batch.remove_range("x", "y");
    batch.remove_range("xx", "z");
    batch.remove_range("z", "zz");

    auto changes = changes_of(batch.data()).value();

    EXPECT_EQ(changes.puts, (decltype(changes.puts){{"a", "a"}, {"c", "c"}}));
    EXPECT_EQ(changes.removals, std::vector<std::string_view>{"b"});
    EXPECT_EQ(changes.ranges, (decltype(changes.ranges){{"x", "zz"}}));
    EXPECT_FALSE(changes.tail);
}

TEST(Changes, RefuseAKeyThatNoIndexTakes) {
    auto batch = FlatBatch{};
    batch.put(std::string(key_bytes_max + 1, 'k'), "");

    EXPECT_EQ(changes_of(batch.data()).error().code, Errc::LimitExceeded);
}

} // namespace
} // namespace sluice::store::postgres
