#include "server/documents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/memory/memory_store.h"

namespace sluice::server {
namespace {

using ::testing::ElementsAre;

class DocumentsTest : public ::testing::Test {
protected:
    std::unique_ptr<Documents> open() {
        auto documents = Documents::open(store_, {"route", "token"});
        EXPECT_TRUE(documents);
        return std::move(*documents);
    }

    static std::vector<std::string> names(const std::vector<Document>& documents) {
        auto found = std::vector<std::string>{};
        for (const auto& document : documents) {
            found.push_back(document.space + "/" + document.name);
        }
        return found;
    }

    store::memory::MemoryStore store_;
};

TEST_F(DocumentsTest, AreThereAgainWhenTheStoreIsOpened) {
    ASSERT_TRUE(open()->put("route", {"a", "one", Value::object({{"to", "x"}})}));

    auto documents = open();

    auto found = documents->find("route", "a", "one");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->content, Value::object({{"to", "x"}}));
    EXPECT_FALSE(documents->find("token", "a", "one"));
}

TEST_F(DocumentsTest, AreListedByKindAndNamespace) {
    auto documents = open();
    ASSERT_TRUE(documents->put("route", {"b", "two", Value{}}));
    ASSERT_TRUE(documents->put("route", {"a", "one", Value{}}));
    ASSERT_TRUE(documents->put("token", {"", "root", Value{}}));

    EXPECT_THAT(names(documents->list("route")), ElementsAre("a/one", "b/two"));
    EXPECT_THAT(names(documents->list("route", "b")), ElementsAre("b/two"));
    EXPECT_THAT(names(documents->list("token")), ElementsAre("/root"));
}

TEST_F(DocumentsTest, TakeUpWhatAnotherProcessHasChanged) {
    using enum Documents::Look;
    auto documents = open();
    auto others = open();
    ASSERT_TRUE(documents->put("route", {"a", "kept", Value{1}}));
    ASSERT_TRUE(others->put("route", {"a", "new", Value{1}}));
    ASSERT_TRUE(others->refresh(IfChanged));
    ASSERT_TRUE(others->remove("route", "a", "kept"));

    auto changes = documents->refresh(IfChanged);

    ASSERT_TRUE(changes);
    EXPECT_THAT(*changes, ElementsAre(DocumentChange{"route", "a", "kept"},
                                      DocumentChange{"route", "a", "new"}));
    EXPECT_THAT(names(documents->list("route")), ElementsAre("a/new"));
    EXPECT_TRUE(documents->refresh(IfChanged)->empty());
    EXPECT_TRUE(others->refresh(IfChanged)->empty());
}

TEST_F(DocumentsTest, TakeUpHowFarOthersHaveComeOnlyWhenAsked) {
    using enum Documents::Look;
    auto documents = std::move(Documents::open(store_, {"source_state"})).value();
    auto others = std::move(Documents::open(store_, {"source_state"})).value();
    ASSERT_TRUE(others->put("source_state", {"a", "one", Value{7}}));

    EXPECT_TRUE(documents->refresh(IfChanged)->empty());
    EXPECT_EQ(documents->fetch("source_state", "a", "one").value()->content, Value{7});
    EXPECT_THAT(*documents->refresh(Again),
                ElementsAre(DocumentChange{"source_state", "a", "one"}));
}

TEST_F(DocumentsTest, SayWhatANamespaceHasWhoeverKeepsIt) {
    auto documents = open();
    auto others = std::move(Documents::open(store_, {"schedule"})).value();
    ASSERT_TRUE(documents->put("route", {"b", "a", Value{}}));
    ASSERT_TRUE(documents->put("token", {"a", "one", Value{}}));
    EXPECT_EQ(*documents->kind_in("a", {"token"}), "");

    ASSERT_TRUE(others->put("schedule", {"a", "nightly", Value{}}));

    EXPECT_EQ(*documents->kind_in("a", {"token"}), "schedule");
}

TEST_F(DocumentsTest, RemovedIsGoneForGood) {
    auto documents = open();
    ASSERT_TRUE(documents->put("route", {"a", "one", Value{}}));

    ASSERT_TRUE(documents->remove("route", "a", "one"));

    EXPECT_FALSE(documents->find("route", "a", "one"));
    EXPECT_FALSE(open()->find("route", "a", "one"));
    EXPECT_EQ(documents->remove("route", "a", "one").error().code, Errc::NotFound);
}

TEST_F(DocumentsTest, RefusesNamesThatAKeyCannotHold) {
    auto documents = open();
    auto lengthy = std::string(201, 'x');

    EXPECT_EQ(documents->put("route", {"a", "", Value{}}).error().code, Errc::InvalidInput);
    EXPECT_EQ(documents->put("route", {"a", lengthy, Value{}}).error().code, Errc::InvalidInput);
    EXPECT_FALSE(documents->find("route", "a", lengthy));
}

} // namespace
} // namespace sluice::server
