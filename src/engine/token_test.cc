#include "engine/token.h"

#include <gtest/gtest.h>

#include "store/memory/memory_store.h"

namespace sluice::engine {
namespace {

constexpr auto test_secret = Secret{1, 2, 3};

AttemptId some_attempt() {
    return {.run = {.space = "team a/b", .id = "größe~1"},
            .started = Time{std::chrono::nanoseconds{-5}},
            .key = {.fire = trigger::FireNumber{300}, .index = 7},
            .attempt = 3,
            .scope = trigger::Incarnation{12}};
}

TEST(Tokens, AreReadAsTheyWereMade) {
    auto tokens = Tokens{test_secret};

    auto read = tokens.read(tokens.make(some_attempt()));

    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, some_attempt());
}

TEST(Tokens, StandInAnAddressAsTheyAre) {
    auto token = Tokens{test_secret}.make(some_attempt());

    EXPECT_EQ(token.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                      "0123456789-_"),
              std::string::npos);
}

TEST(Tokens, TellAttemptsNamespacesAndRunsOfOneNameApart) {
    auto tokens = Tokens{test_secret};
    auto attempt = some_attempt();
    auto next = attempt;
    ++next.attempt;
    auto elsewhere = attempt;
    elsewhere.run.space = "other";
    auto reborn = attempt;
    reborn.started += std::chrono::nanoseconds{1};

    for (const auto& other : {next, elsewhere, reborn}) {
        EXPECT_NE(tokens.make(attempt), tokens.make(other));
    }
}

TEST(Tokens, OfAnotherSecretAreRefused) {
    auto read = Tokens{test_secret}.read(Tokens{Secret{9}}.make(some_attempt()));

    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Errc::InvalidInput);
}

TEST(Tokens, WithAnyCharacterChangedAreRefused) {
    auto tokens = Tokens{test_secret};
    auto token = tokens.make(some_attempt());

    for (auto at = std::size_t{0}; at < token.size(); ++at) {
        auto changed = token;
        changed[at] = changed[at] == 'A' ? 'B' : 'A';
        EXPECT_FALSE(tokens.read(changed)) << "at " << at;
        EXPECT_FALSE(tokens.read(token.substr(0, at))) << "cut at " << at;
    }
    EXPECT_FALSE(tokens.read("not base64!"));
    EXPECT_FALSE(tokens.read(std::string(5000, 'A')));
}

TEST(StoreSecret, IsMadeOnceAndKept) {
    auto store = store::memory::MemoryStore{1};
    auto other = store::memory::MemoryStore{1};

    auto first = load_secret(store);

    ASSERT_TRUE(first) << first.error().message;
    EXPECT_EQ(first, load_secret(store));
    EXPECT_NE(first, load_secret(other));
    EXPECT_NE(*first, Secret{});
}

} // namespace
} // namespace sluice::engine
