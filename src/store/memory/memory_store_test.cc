#include "store/memory/memory_store.h"

#include <gtest/gtest.h>

#include "store/testing/store_contract.h"

namespace sluice::store::memory {
namespace {

using testing::StoreContract;
using testing::StoreKind;

INSTANTIATE_TEST_SUITE_P(Memory, StoreContract,
                         ::testing::Values(StoreKind{
                             "Store", [] { return std::make_unique<MemoryStore>(4); }}),
                         testing::name_of_kind);

TEST(MemoryStore, CountsWhatItsKeysAndValuesTake) {
    auto store = MemoryStore{};
    auto batch = store.make_batch();
    batch->put("key", "value");
    batch->put("gone", "soon");
    ASSERT_TRUE(store.commit(*batch));
    EXPECT_EQ(store.memory_bytes(), 16);

    batch->clear();
    batch->put("key", "v");
    batch->remove("gone");
    ASSERT_TRUE(store.commit(*batch));

    EXPECT_EQ(store.memory_bytes(), 4);
}

} // namespace
} // namespace sluice::store::memory
