#include "store/objects/object_directory.h"

#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "store/objects/testing/objects_contract.h"

namespace sluice::store {
namespace {

namespace fs = std::filesystem;
using testing::first_owner;
using testing::second_owner;

class ObjectDirectoryTest : public ::testing::Test {
protected:
    void SetUp() override {
        auto pattern = (fs::temp_directory_path() / "sluice-objects-XXXXXX").string();
        root_ = ::mkdtemp(pattern.data());
        open();
    }
    void TearDown() override { fs::remove_all(root_); }

    void open() {
        objects_.reset();
        objects_ = std::move(*ObjectDirectory::open(root_ / "objects", ObjectAccess::ReadWrite));
    }
    std::size_t files() const {
        auto count = std::size_t{0};
        for (const auto& each : fs::recursive_directory_iterator{root_ / "objects"}) {
            count += each.is_regular_file() ? 1 : 0;
        }
        return count;
    }
    fs::path file_of(const std::string& name) const {
        for (const auto& each : fs::recursive_directory_iterator{root_ / "objects"}) {
            if (each.path().filename() == name) {
                return each.path();
            }
        }
        return {};
    }

    fs::path root_;
    std::unique_ptr<ObjectDirectory> objects_;
};

TEST_F(ObjectDirectoryTest, KeepsWhatItsOwnersPut) {
    testing::expect_objects(*objects_);

    objects_->reclaim();
    EXPECT_EQ(files(), 0U);
}

TEST_F(ObjectDirectoryTest, TheNextProcessFindsThem) {
    auto name = *objects_->put(first_owner, "kept");

    open();

    EXPECT_EQ(objects_->get(first_owner, name), "kept");
    EXPECT_EQ(objects_->owners(), std::vector{first_owner});
}

TEST_F(ObjectDirectoryTest, WhatACrashLeftUnfinishedIsRemoved) {
    std::ofstream{root_ / "objects/new/7"} << "half";
    fs::create_directory(root_ / "objects/old/9");
    std::ofstream{root_ / "objects/old/9/x"} << "removed";

    open();

    EXPECT_EQ(files(), 0U);
}

TEST_F(ObjectDirectoryTest, DamageIsNamedAndNotUsed) {
    auto name = *objects_->put(first_owner, "as it was");
    auto file = file_of(name);
    std::ofstream{file} << "as it is ";

    auto read = objects_->get(first_owner, name);
    auto checked = objects_->check();

    EXPECT_EQ(read.error().code, Errc::Corrupt);
    EXPECT_TRUE(read.error().message.contains(file.string())) << read.error().message;
    ASSERT_EQ(checked->damaged.size(), 1U);
    EXPECT_EQ(checked->damaged[0].file, file.string());
    EXPECT_EQ(objects_->put(first_owner, "as it was"), name);
    EXPECT_EQ(objects_->get(first_owner, name), "as it was") << "putting it again mends it";
}

TEST_F(ObjectDirectoryTest, ACopyHasWhatIsRemovedWhileItIsMade) {
    auto kept = *objects_->put(first_owner, "kept");
    auto removed = *objects_->put(second_owner, "removed");
    auto copy = root_ / "copy";

    auto copied = objects_->copy_to(copy, [&]() -> Result<void> {
        fs::create_directory(copy);
        EXPECT_EQ(objects_->remove_all(second_owner), true);
        EXPECT_TRUE(objects_->put(first_owner, "put meanwhile"));
        return {};
    });

    ASSERT_TRUE(copied) << copied.error().message;
    auto restored = *ObjectDirectory::open(copy / "objects", ObjectAccess::ReadOnly);
    EXPECT_EQ(restored->get(first_owner, kept), "kept");
    EXPECT_EQ(restored->get(second_owner, removed), "removed");
    EXPECT_TRUE(restored->check()->damaged.empty());
}

TEST_F(ObjectDirectoryTest, ADirectoryThatIsNotThereHasNone) {
    auto none = ObjectDirectory::open(root_ / "nothing", ObjectAccess::ReadOnly);

    EXPECT_EQ((*none)->get(first_owner, object_name_of("x")).error().code, Errc::NotFound);
    EXPECT_EQ((*none)->owners(), std::vector<ObjectOwner>{});
    EXPECT_FALSE(fs::exists(root_ / "nothing"));
}

} // namespace
} // namespace sluice::store
