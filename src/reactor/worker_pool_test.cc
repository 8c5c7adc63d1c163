#include "reactor/worker_pool.h"

#include <future>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

namespace sluice::reactor {
namespace {

TEST(WorkerPool, DoesWhatItIsGivenOnThreadsOfItsOwn) {
    auto place = std::promise<std::thread::id>{};
    auto pool = WorkerPool{"test"};

    ASSERT_TRUE(pool.try_post([&] { place.set_value(std::this_thread::get_id()); }));

    EXPECT_NE(place.get_future().get(), std::this_thread::get_id());
}

TEST(WorkerPool, RefusesMoreThanMayWait) {
    auto begun = std::promise<void>{};
    auto release = std::promise<void>{};
    auto pool = WorkerPool{"test", {.threads = 1, .tasks_max = 1}};
    ASSERT_TRUE(pool.try_post([&] {
        begun.set_value();
        release.get_future().wait();
    }));
    begun.get_future().wait();
    EXPECT_TRUE(pool.try_post([] {}));

    EXPECT_FALSE(pool.try_post([] {}));

    release.set_value();
}

TEST(WorkerPool, DropsWhatHasNotBegunWhenItStops) {
    auto begun = std::promise<void>{};
    auto release = std::promise<void>{};
    auto pool = WorkerPool{"test", {.threads = 1, .tasks_max = 10}};
    auto dropped = std::make_shared<int>(0);
    auto is_dropped = std::weak_ptr{dropped};
    ASSERT_TRUE(pool.try_post([&] {
        begun.set_value();
        release.get_future().wait();
    }));
    begun.get_future().wait();
    ASSERT_TRUE(pool.try_post([kept = std::move(dropped)] { FAIL(); }));

    auto stopping = std::async(std::launch::async, [&] { pool.stop(); });
    while (!is_dropped.expired()) {
        std::this_thread::yield();
    }
    release.set_value();
    stopping.wait();

    EXPECT_FALSE(pool.try_post([] {}));
}

} // namespace
} // namespace sluice::reactor
