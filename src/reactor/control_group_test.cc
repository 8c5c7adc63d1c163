#include "reactor/control_group.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <future>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "reactor/internal/confinement.h"
#include "reactor/process_runner.h"

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
    Result<ControlGroup> find() const { return find_control_group(root, root / "membership"); }

    ControlGroup unified() const {
        return {.version = ControlGroup::Version::Two, .memory = group, .cpu = group};
    }

    std::filesystem::path root;
    std::filesystem::path group;
};

TEST_F(ControlGroupTest, HandsLimitsDownFromItsOwnGroup) {
    auto found = find();

    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(*found, unified());
    EXPECT_EQ(read(group / "server" / "cgroup.procs"), std::to_string(::getpid()));
    EXPECT_EQ(read(group / "cgroup.subtree_control"), "+memory +cpu");
}

TEST_F(ControlGroupTest, LeavesAGroupAloneThatOthersLiveIn) {
    put(group / "cgroup.procs", std::to_string(::getpid()) + "\n1\n");

    EXPECT_EQ(find().error().code, Errc::Unsupported);
    EXPECT_FALSE(std::filesystem::exists(group / "server"));
}

TEST_F(ControlGroupTest, NeedsControllers) {
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
        auto confinement = internal::Confinement::of(child, limits, unified());

        EXPECT_EQ(read(place / "memory.max"), "1000");
        EXPECT_EQ(read(place / "cpu.max"), "150000 100000");
        EXPECT_EQ(read(place / "cgroup.procs"), "12345678");
        EXPECT_FALSE(confinement.was_memory_full());
        put(place / "memory.events", "max 7\noom 1\noom_kill 1\n");
        EXPECT_TRUE(confinement.was_memory_full());
    }
    EXPECT_EQ(read(place / "cgroup.kill"), "1");
}

TEST_F(ControlGroupTest, KnowsVersionOneByItsControllers) {
    std::filesystem::remove(root / "cgroup.controllers");
    for (const auto* folder : {"memory/old", "cpu,cpuacct"}) {
        std::filesystem::create_directories(root / folder);
    }
    put(root / "memory/old/memory.limit_in_bytes", "");
    put(root / "cpu,cpuacct/cpu.cfs_period_us", "");
    put(root / "membership", "3:memory:/old\n2:cpu,cpuacct:/the/host's\n0::/\n");

    auto found = find();

    ASSERT_TRUE(found) << found.error().message;
    auto expected = ControlGroup{.version = ControlGroup::Version::One,
                                 .memory = root / "memory/old",
                                 .cpu = root / "cpu,cpuacct"};
    EXPECT_EQ(*found, expected);

    auto confinement =
        internal::Confinement::of(pid_t{12'345'678}, {.memory_bytes = 1'000, .cpu = 0.2}, *found);
    auto place = root / "memory/old/command-12345678";
    EXPECT_EQ(read(place / "memory.limit_in_bytes"), "1000");
    EXPECT_EQ(read(place / "cgroup.procs"), "12345678");
    EXPECT_EQ(read(root / "cpu,cpuacct/command-12345678/cpu.cfs_quota_us"), "20000");
    put(place / "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
    EXPECT_TRUE(confinement.was_memory_full());
    std::filesystem::remove(place / "cgroup.procs");
    std::filesystem::remove(root / "cpu,cpuacct/command-12345678/cgroup.procs");
}

/// On the kernel's own control groups.
class RealControlGroupTest : public ::testing::Test {
protected:
    void SetUp() override {
        auto found = find_control_group();
        if (!found) {
            GTEST_SKIP() << "this machine gives us no control groups: " << found.error().message;
        }
        runner_ = std::move(ProcessRunner::create({.control_group = *found})).value();
    }

    Outcome run(Command command) {
        auto promise = std::promise<Outcome>{};
        auto outcome = promise.get_future();
        runner_->start(std::move(command),
                       [&](Outcome given) { promise.set_value(std::move(given)); });
        return outcome.get();
    }

    static std::chrono::duration<double> time_of_children() {
        auto usage = rusage{};
        ::getrusage(RUSAGE_CHILDREN, &usage);
        auto seconds = [](const timeval& time) {
            return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
        };
        return std::chrono::duration<double>{seconds(usage.ru_utime) + seconds(usage.ru_stime)};
    }

    std::unique_ptr<ProcessRunner> runner_;
};

TEST_F(RealControlGroupTest, EndsWhatTakesMoreMemoryThanItMay) {
    auto outcome = run({.argv = {"tail", "/dev/zero"},
                        .timeout = std::chrono::seconds{30},
                        .resources = {.memory_bytes = 32U << 20U}});

    EXPECT_EQ(outcome.signal, SIGKILL);
    EXPECT_FALSE(outcome.is_timed_out);
    EXPECT_EQ(outcome.exceeded, Exceeded::Memory);
}

TEST_F(RealControlGroupTest, GivesItsShareOfAProcessor) {
    auto before = time_of_children();

    auto outcome = run({.argv = {"/bin/sh", "-c", "while :; do :; done"},
                        .timeout = std::chrono::seconds{1},
                        .resources = {.cpu = 0.2}});

    auto used = (time_of_children() - before).count();
    EXPECT_TRUE(outcome.is_timed_out);
    EXPECT_GT(used, 0.02);
    EXPECT_LT(used, 0.4);
}

} // namespace
} // namespace sluice::reactor
