#include "connector/objects/directory_bucket.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace sluice::connector::objects {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class DirectoryBucketTest : public ::testing::Test {
protected:
    DirectoryBucketTest() { fs::create_directories(root_); }
    ~DirectoryBucketTest() override { fs::remove_all(root_.parent_path()); }

    std::vector<std::string> keys(const std::string& prefix, const std::string& after = "",
                                  std::size_t most = 100) {
        auto found = std::vector<std::string>{};
        auto listed = *bucket()->list(prefix, after, most);
        for (const auto& each : listed) {
            found.push_back(each.key);
        }
        return found;
    }
    std::unique_ptr<DirectoryBucket> bucket() { return *DirectoryBucket::open(root_); }
    void put(const std::string& key, const std::string& content = "x") {
        ASSERT_TRUE(bucket()->write(key, content));
    }

    fs::path root_ = fs::temp_directory_path() /
                     fmt::format("buckets-{}-{}", ::getpid(),
                                 ::testing::UnitTest::GetInstance()->current_test_info()->name()) /
                     "b";
};

TEST_F(DirectoryBucketTest, ReadsAPartOfWhatWasWritten) {
    put("in/a b.txt", "0123456789");

    EXPECT_EQ(bucket()->read("in/a b.txt", 2, 3), "234");
    EXPECT_EQ(bucket()->read("in/a b.txt", 8, 100), "89");
    EXPECT_EQ(bucket()->read("in/a b.txt", 10, 100), "");
    EXPECT_EQ(bucket()->find("in/a b.txt")->bytes, 10U);
    EXPECT_EQ(bucket()->read("in", 0, 1).error().code, Errc::NotFound);
    EXPECT_EQ(bucket()->find("nothing").error().code, Errc::NotFound);
}

TEST_F(DirectoryBucketTest, ListsInTheOrderOfTheirBytesPageByPage) {
    for (const auto* key : {"a/z", "a/b/c", "a.txt", "a0", "b", "c/d"}) {
        put(key);
    }
    fs::create_directories(root_ / "empty" / "folder");

    EXPECT_THAT(keys(""), ElementsAre("a.txt", "a/b/c", "a/z", "a0", "b", "c/d"));
    EXPECT_THAT(keys("a/"), ElementsAre("a/b/c", "a/z"));
    EXPECT_THAT(keys("a"), ElementsAre("a.txt", "a/b/c", "a/z", "a0"));
    EXPECT_THAT(keys("", "a/b/c", 2), ElementsAre("a/z", "a0"));
    EXPECT_THAT(keys("", "a/", 1), ElementsAre("a/b/c"));
    auto paged = std::vector<std::string>{};
    for (auto page = keys("", "", 1); !page.empty(); page = keys("", page.back(), 1)) {
        paged.push_back(page.front());
    }
    EXPECT_EQ(paged, keys(""));
}

TEST_F(DirectoryBucketTest, LetsNobodyOut) {
    std::ofstream{root_.parent_path() / "secret"} << "s";
    fs::create_symlink(root_.parent_path(), root_ / "up");

    for (const auto* key : {"../secret", "/secret", "a/../../secret", "a//b", "a/", "", ".",
                            "up/secret", "a\nb", "\xFF"}) {
        EXPECT_FALSE(bucket()->read(key, 0, 10)) << key;
        EXPECT_FALSE(bucket()->write(key, "x")) << key;
    }
    EXPECT_THAT(keys(""), IsEmpty());
    EXPECT_FALSE(DirectoryBucket::open(root_ / "nowhere"));
}

TEST_F(DirectoryBucketTest, ShowsNothingHalfWritten) {
    std::ofstream{root_ / "k.1-1.sluice-part"} << "half";
    put("k", "whole");
    put("k", "again");

    EXPECT_THAT(keys(""), ElementsAre("k"));
    EXPECT_EQ(bucket()->read("k", 0, 100), "again");
    EXPECT_FALSE(bucket()->read("k.1-1.sluice-part", 0, 100));
}

} // namespace
} // namespace sluice::connector::objects
