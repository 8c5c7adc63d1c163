#include "store/flat_batch.h"

#include <gtest/gtest.h>

namespace sluice::store {
namespace {

FlatBatch sample() {
    auto batch = FlatBatch{};
    batch.put("key", "value");
    batch.remove("gone");
    batch.remove_range("a", "b");
    batch.fence({ShardId{7}, Epoch{3}, CommitNumber{41}});
    return batch;
}

TEST(FlatBatch, ReplaysAsItWasWritten) {
    auto copy = FlatBatch{};

    ASSERT_TRUE(replay(sample().data(), copy));

    EXPECT_EQ(copy.data(), sample().data());
    ASSERT_EQ(copy.fences().size(), 1);
    EXPECT_EQ(copy.fences()[0].stands_on, CommitNumber{41});
}

TEST(FlatBatch, DataCutAnywhereInAnOperationIsCorrupt) {
    auto whole = std::string{sample().data()};
    auto complete = 0;
    for (auto size = std::size_t{0}; size < whole.size(); ++size) {
        auto copy = FlatBatch{};
        complete += replay(whole.substr(0, size), copy) ? 1 : 0;
    }

    EXPECT_EQ(complete, 4) << "only between its operations";
}

TEST(FlatBatch, AnUnknownOperationIsCorrupt) {
    auto copy = FlatBatch{};

    EXPECT_EQ(replay("\x09", copy).error().code, Errc::Corrupt);
}

} // namespace
} // namespace sluice::store
