#include "expr/cel/runtime/excerpt.h"

#include <string>

#include <gtest/gtest.h>

namespace sluice::expr::cel::runtime {
namespace {

TEST(Excerpt, IsCutBetweenCharacters) {
    auto text = std::string{"x"};
    for (auto count = 0; count < 100; ++count) {
        text += "€";
    }

    EXPECT_EQ(excerpt(text).size(), 79U);
    EXPECT_EQ(count_code_points(text), 101U);
}

} // namespace
} // namespace sluice::expr::cel::runtime
