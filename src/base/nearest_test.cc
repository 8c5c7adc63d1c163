#include "base/nearest.h"

#include <string>

#include <gtest/gtest.h>

namespace sluice {
namespace {

constexpr std::string_view known_words[] = {"listen", "limits", "log"};

TEST(Nearest, FindsTheWordThatWasMeant) {
    EXPECT_EQ(nearest("listn", known_words), "listen");
    EXPECT_EQ(nearest("limtis", known_words), "limits");
}

TEST(Nearest, FindsNothingThatIsFarOrLong) {
    EXPECT_EQ(nearest("tokens", known_words), "");
    EXPECT_EQ(nearest(std::string(10'000, 'l'), known_words), "");
}

} // namespace
} // namespace sluice
