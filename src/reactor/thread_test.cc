#include "reactor/thread.h"

#include <array>
#include <string>

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

namespace sluice::reactor {
namespace {

TEST(Thread, CarriesItsNameAndReceivesNoSignals) {
    auto name = std::array<char, 16>{};
    auto mask = sigset_t{};

    start_thread("a name longer than fits", [&](std::stop_token) {
        pthread_getname_np(pthread_self(), name.data(), name.size());
        pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    }).join();

    EXPECT_STREQ(name.data(), "a name longer t");
    EXPECT_EQ(sigismember(&mask, SIGPIPE), 1);
    EXPECT_EQ(sigismember(&mask, SIGTERM), 1);
}

TEST(Thread, LeavesTheStartersSignalsAsTheyWere) {
    auto before = sigset_t{};
    auto after = sigset_t{};
    pthread_sigmask(SIG_SETMASK, nullptr, &before);

    start_thread("short", [](std::stop_token) {}).join();
    pthread_sigmask(SIG_SETMASK, nullptr, &after);

    EXPECT_EQ(sigismember(&before, SIGTERM), sigismember(&after, SIGTERM));
}

} // namespace
} // namespace sluice::reactor
