#include "server/namespaces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/memory/memory_store.h"

namespace sluice::server {
namespace {

using ::testing::ElementsAre;

class NamespacesTest : public ::testing::Test {
protected:
    NamespacesTest() { open(); }

    void open() {
        documents_ = std::move(Documents::open(store_, {"namespace"})).value();
        namespaces_ = std::make_unique<Namespaces>(*documents_);
    }
    std::vector<std::string> names() const {
        auto found = std::vector<std::string>{};
        for (const auto& document : namespaces_->list()) {
            found.push_back(document.name);
        }
        return found;
    }

    store::memory::MemoryStore store_;
    std::unique_ptr<Documents> documents_;
    std::unique_ptr<Namespaces> namespaces_;
};

TEST_F(NamespacesTest, TheDefaultOneIsAlwaysThere) {
    EXPECT_TRUE(namespaces_->contains("default"));
    EXPECT_FALSE(namespaces_->contains("team"));
    EXPECT_THAT(names(), ElementsAre("default"));
    EXPECT_EQ(namespaces_->remove("default", [] { return Result<void>{}; }).error().code,
              Errc::InvalidInput);
}

TEST_F(NamespacesTest, ThoseThatWereMadeAreThereAgain) {
    ASSERT_TRUE(namespaces_->put("team", Value{}));
    ASSERT_TRUE(namespaces_->put("team", Value{}));

    open();

    EXPECT_TRUE(namespaces_->contains("team"));
    EXPECT_THAT(names(), ElementsAre("default", "team"));
}

TEST_F(NamespacesTest, OneThatCannotBeEmptiedStays) {
    ASSERT_TRUE(namespaces_->put("team", Value{}));
    auto was_there = true;
    auto full = [&]() -> Result<void> {
        was_there = namespaces_->contains("team");
        return fail(Errc::Conflict, "runs");
    };

    EXPECT_EQ(namespaces_->remove("team", full).error().code, Errc::Conflict);
    EXPECT_FALSE(was_there);
    EXPECT_TRUE(namespaces_->contains("team"));
    ASSERT_TRUE(namespaces_->remove("team", [] { return Result<void>{}; }));

    EXPECT_FALSE(namespaces_->contains("team"));
    EXPECT_EQ(namespaces_->remove("team", full).error().code, Errc::NotFound);
}

TEST_F(NamespacesTest, RefusesNamesThatNoneCanHave) {
    for (const auto& name : {std::string{}, std::string{"a/b"}, std::string{"A"}, std::string{"-a"},
                             std::string{"ä"}, std::string{"a b"}, std::string(101, 'a')}) {
        EXPECT_EQ(namespaces_->put(name, Value{}).error().code, Errc::InvalidInput) << name;
    }
}

} // namespace
} // namespace sluice::server
