#pragma once

#include <string>

#include <gtest/gtest.h>

#include "store/objects/objects.h"

namespace sluice::store::testing {

inline const auto first_owner = ObjectOwner{.space = "default", .run = "r1"};
inline const auto second_owner = ObjectOwner{.space = "default", .run = "r2"};

/// What all objects do, wherever they lie.
inline void expect_objects(Objects& objects) {
    auto bytes = std::string(100'000, 'x');

    auto name = objects.put(first_owner, bytes);
    ASSERT_TRUE(name) << name.error().message;
    EXPECT_TRUE(is_object_name(*name));
    EXPECT_EQ(objects.put(first_owner, bytes), name) << "the same twice is one";
    EXPECT_EQ(objects.get(first_owner, *name), bytes);
    EXPECT_EQ(objects.get(second_owner, *name).error().code, Errc::NotFound)
        << "it is its owner's alone";
    EXPECT_EQ(objects.get({.space = "team", .run = "r1"}, *name).error().code, Errc::NotFound);
    EXPECT_EQ(objects.get(first_owner, "../owner").error().code, Errc::NotFound);

    ASSERT_TRUE(objects.share(first_owner, second_owner));
    EXPECT_EQ(objects.remove_all(first_owner), true);
    objects.reclaim();
    EXPECT_EQ(objects.get(first_owner, *name).error().code, Errc::NotFound);
    EXPECT_EQ(objects.get(second_owner, *name), bytes) << "shared, it stays with the other";
    EXPECT_EQ(objects.owners(), std::vector{second_owner});
    EXPECT_EQ(objects.remove_all(first_owner), false) << "twice is safe";
    EXPECT_EQ(objects.remove_all(second_owner), true);
    EXPECT_EQ(objects.owners(), std::vector<ObjectOwner>{});
}

} // namespace sluice::store::testing
