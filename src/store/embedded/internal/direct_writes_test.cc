#include "store/embedded/internal/direct_writes.h"

#include <gtest/gtest.h>

#include "store/embedded/testing/scratch_directory.h"

namespace sluice::store::embedded {
namespace {

TEST(DirectWrites, LeaveNothingBehind) {
    auto folder = ScratchDirectory{};

    static_cast<void>(takes_direct_writes(folder.path()));

    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(DirectWrites, AreNotTakenWhereNothingCanBeWritten) {
    EXPECT_FALSE(takes_direct_writes("/no such place"));
    EXPECT_FALSE(takes_direct_writes("/proc"));
}

} // namespace
} // namespace sluice::store::embedded
