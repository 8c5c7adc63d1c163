#include "engine/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/memory/memory_store.h"
#include "value/json.h"

namespace sluice::engine {
namespace {

using ::testing::ElementsAre;

class CatalogTest : public ::testing::Test {
protected:
    std::string add(const std::string& name, int count, const std::string& space = "default") {
        auto form = fmt::format(
            R"({{"name":"{}","triggers":[{{"id":"t","on":"a","condition":{{"count":{}}}}}]}})",
            name, count);
        return catalog_
            .add(space, {.name = name, .form = value::parse_json(form).value(), .source = ""})
            .value();
    }

    std::vector<std::string> versions(const std::string& name) const {
        auto found = std::vector<std::string>{};
        auto all = catalog_.versions("default", name).value();
        for (const auto& each : all) {
            found.push_back(fmt::format("{} {}", each.number, each.hash));
        }
        return found;
    }

    std::vector<std::string> names(std::string_view after, std::size_t most) const {
        auto found = std::vector<std::string>{};
        auto all = catalog_.list("default", after, most).value();
        for (const auto& each : all) {
            found.push_back(each.name);
        }
        return found;
    }

    store::memory::MemoryStore store_;
    trigger::Vocabulary vocabulary_;
    Catalog catalog_{store_, vocabulary_};
};

TEST_F(CatalogTest, NumbersWhatANameHasMeant) {
    auto first = add("a", 1);
    add("a", 1);
    auto second = add("a", 2);

    EXPECT_THAT(versions("a"), ElementsAre("2 " + second, "1 " + first));
    EXPECT_EQ(catalog_.find("default", "a").value(), second);
    EXPECT_EQ(catalog_.find_version("default", "a", first).value(), first);
    EXPECT_EQ(catalog_.find_version("default", "b", first).error().code, Errc::NotFound);
    EXPECT_EQ(catalog_.find_version("other", "a", first).error().code, Errc::NotFound);
}

TEST_F(CatalogTest, WhatComesBackIsAVersionAgain) {
    auto first = add("a", 1);
    auto second = add("a", 2);
    add("a", 1);

    EXPECT_THAT(versions("a"), ElementsAre("3 " + first, "2 " + second, "1 " + first));
}

TEST_F(CatalogTest, ListsNamesInTheirOrder) {
    for (const auto* name : {"b", "aa", "c"}) {
        add(name, 1);
    }
    add("elsewhere", 1, "other");

    EXPECT_THAT(names("", 10), ElementsAre("aa", "b", "c"));
    EXPECT_THAT(names("aa", 1), ElementsAre("b"));
}

TEST_F(CatalogTest, ForgetsANamespaceWithItsVersions) {
    add("a", 1);
    add("a", 1, "other");
    ASSERT_TRUE(catalog_.forget("default"));

    EXPECT_TRUE(names("", 10).empty());
    EXPECT_TRUE(versions("a").empty());
    EXPECT_TRUE(catalog_.find("other", "a"));
}

} // namespace
} // namespace sluice::engine
