#include "reactor/virtual_time.h"

#include <vector>

#include <gtest/gtest.h>

namespace sluice::reactor {

TEST(VirtualTime, DoesWhatIsDueInItsOrder) {
    using std::chrono::days;
    auto time = VirtualTime{Time{days{20'000}}};
    auto done = std::vector<int>{};
    time.after(days{30}, [&] { done.push_back(2); });
    time.after(days{1}, [&] { done.push_back(1); });
    auto dropped = time.after(days{2}, [&] { done.push_back(3); });

    EXPECT_FALSE(time.step());
    EXPECT_TRUE(time.cancel(dropped));
    while (auto next = time.until_next()) {
        time.advance(*next);
        EXPECT_TRUE(time.step());
    }

    EXPECT_EQ(done, (std::vector{1, 2}));
    EXPECT_EQ(time.wall(), Time{days{20'030}});
    EXPECT_EQ(time.steady(), days{30});
}

} // namespace sluice::reactor
