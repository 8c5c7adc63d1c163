#include "server/tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/memory/memory_store.h"

namespace sluice::server {
namespace {

class TokensTest : public ::testing::Test {
protected:
    void open(WithoutTokens without_tokens = WithoutTokens::Everybody) {
        documents_ = Documents::open(store_, {std::string{Tokens::kind}}).value();
        table_ = std::make_unique<TokenTable>(clock_);
        tokens_ = std::make_unique<Tokens>(*documents_, *table_, without_tokens);
        ASSERT_TRUE(tokens_->load());
    }

    SystemClock clock_;
    store::memory::MemoryStore store_;
    std::unique_ptr<Documents> documents_;
    std::unique_ptr<TokenTable> table_;
    std::unique_ptr<Tokens> tokens_;
};

TEST_F(TokensTest, AreThereAgainWithoutTheirSecrets) {
    open();
    auto root = tokens_->create({.name = "root", .role = Role::Admin}).value();
    auto end = Time{std::chrono::seconds{4'000'000'000}};
    auto ci =
        tokens_->create({.name = "ci", .role = Role::Operator, .space = "team", .expires = end});

    open();

    EXPECT_EQ(table_->find(root)->name, "root");
    EXPECT_EQ(table_->find(*ci)->space, "team");
    EXPECT_EQ(table_->list()[0].expires, end);
    auto cursor = store_.scan("", "");
    for (; cursor->is_valid(); cursor->next()) {
        EXPECT_EQ(cursor->value().find(root), std::string_view::npos);
    }
}

TEST_F(TokensTest, LockNobodyOut) {
    open();
    EXPECT_EQ(tokens_->create({.name = "eyes", .role = Role::Reader}).error().code, Errc::Conflict);
    ASSERT_TRUE(tokens_->create({.name = "root", .role = Role::Admin}));
    ASSERT_TRUE(tokens_->create({.name = "eyes", .role = Role::Reader}));

    EXPECT_EQ(tokens_->remove("root").error().code, Errc::Conflict);
    ASSERT_TRUE(tokens_->remove("eyes"));
    ASSERT_TRUE(tokens_->remove("root"));
    EXPECT_TRUE(table_->is_empty());
}

TEST_F(TokensTest, KeepTheLastOneWhereNobodyComesInWithout) {
    open(WithoutTokens::Nobody);
    ASSERT_TRUE(tokens_->create({.name = "root", .role = Role::Admin}));

    EXPECT_EQ(tokens_->remove("root").error().code, Errc::Conflict);
}

TEST_F(TokensTest, HaveNamesOfTheirOwn) {
    open();
    ASSERT_TRUE(tokens_->create({.name = "root", .role = Role::Admin}));

    EXPECT_EQ(tokens_->create({.name = "root", .role = Role::Admin}).error().code,
              Errc::AlreadyExists);
    EXPECT_EQ(tokens_->remove("none").error().code, Errc::NotFound);
}

} // namespace
} // namespace sluice::server
