#include "base/utf8.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(Utf8, EveryCharacterIsReadAsItWasWritten) {
    for (auto code = std::uint32_t{0}; code <= 0x10FFFF; ++code) {
        if (!is_character(code)) {
            continue;
        }
        auto text = std::string{};
        append_utf8(code, text);
        auto read = decode_utf8(text);
        ASSERT_EQ(read.code, code);
        ASSERT_EQ(read.size, text.size());
        ASSERT_TRUE(is_utf8(text)) << code;
    }
    EXPECT_FALSE(is_character(0xD800));
    EXPECT_FALSE(is_character(0x110000));
}

TEST(Utf8, FindsTheFirstByteThatIsNone) {
    EXPECT_EQ(valid_utf8_prefix("aä€😀"), 10U);
    EXPECT_EQ(valid_utf8_prefix("a\xC0\x80"), 1U);
    EXPECT_EQ(valid_utf8_prefix("ab\xED\xA0\x80"), 2U);
    EXPECT_EQ(valid_utf8_prefix("\xE0\x80\x80"), 0U);
    EXPECT_EQ(valid_utf8_prefix("\xF4\x90\x80\x80"), 0U);
    EXPECT_EQ(valid_utf8_prefix("a\xE2\x82"), 1U);
    EXPECT_EQ(valid_utf8_prefix("a\xFF"), 1U);
    EXPECT_EQ(decode_utf8("\x80").size, 0U);
}

TEST(Utf8, ReplacesWhatIsNoCharacterByItsLongestParts) {
    EXPECT_EQ(replace_invalid_utf8("ok ä"), "ok ä");
    EXPECT_EQ(replace_invalid_utf8("a\xE2\x82z"), "a\xEF\xBF\xBDz");
    EXPECT_EQ(replace_invalid_utf8("\xC0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD");
}

} // namespace
} // namespace sluice
