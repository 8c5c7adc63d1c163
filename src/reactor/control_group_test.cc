#include "reactor/control_group.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "reactor/internal/confinement.h"

namespace sluice::reactor {
namespace {

/// A folder that looks as the kernel's does.
class ControlGroupTest : public ::testing::Test {
protected:
    void SetUp() override {
        auto pattern = std::string{"/tmp/sluice-groups-XXXXXX"};
        root = ::mkdtemp(pattern.data());
        group = root / "slice";
        std::filesystem::create_directory(group);
        put(root / "cgroup.controllers", "cpu memory pids");
        put(root / "membership", "3:memory:/old\n0::/slice\n");
        put(group / "cgroup.controllers", "cpu memory");
        put(group / "cgroup.procs", std::to_string(::getpid()) + "\n");
    }
    void TearDown() override { std::filesystem::remove_all(root); }

    static void put(const std::filesystem::path& file, const std::string& text) {
        std::ofstream{file} << text;
    }
    static std::string read(const std::filesystem::path& file) {
        auto in = std::ifstream{file};
        return {std::istreambuf_iterator<char>{in}, {}};
    }
    Result<std::filesystem::path> find() const {
        return find_control_group(root, root / "membership");
    }

    std::filesystem::path root;
    std::filesystem::path group;
};

TEST_F(ControlGroupTest, HandsLimitsDownFromItsOwnGroup) {
    auto found = find();

    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(*found, group);
    EXPECT_EQ(read(group / "server" / "cgroup.procs"), std::to_string(::getpid()));
    EXPECT_EQ(read(group / "cgroup.subtree_control"), "+memory +cpu");
}

TEST_F(ControlGroupTest, LeavesAGroupAloneThatOthersLiveIn) {
    put(group / "cgroup.procs", std::to_string(::getpid()) + "\n1\n");

    EXPECT_EQ(find().error().code, Errc::Unsupported);
    EXPECT_FALSE(std::filesystem::exists(group / "server"));
}

TEST_F(ControlGroupTest, NeedsVersionTwoAndItsControllers) {
    put(group / "cgroup.controllers", "pids");
    EXPECT_EQ(find().error().code, Errc::Unsupported);
    put(root / "membership", "3:memory:/old\n");
    EXPECT_EQ(find().error().code, Errc::Unsupported);
}

TEST_F(ControlGroupTest, PutsAChildIntoAGroupWithItsLimits) {
    auto child = pid_t{12'345'678};
    auto limits = ResourceLimits{.memory_bytes = 1'000, .cpu = 1.5};
    auto place = group / "command-12345678";
    {
        auto confinement = internal::Confinement::of(child, limits, group);

        EXPECT_EQ(read(place / "memory.max"), "1000");
        EXPECT_EQ(read(place / "cpu.max"), "150000 100000");
        EXPECT_EQ(read(place / "cgroup.procs"), "12345678");
        EXPECT_FALSE(confinement.was_memory_full());
        put(place / "memory.events", "max 7\noom 1\noom_kill 1\n");
        EXPECT_TRUE(confinement.was_memory_full());
    }
    EXPECT_EQ(read(place / "cgroup.kill"), "1");
}

} // namespace
} // namespace sluice::reactor
