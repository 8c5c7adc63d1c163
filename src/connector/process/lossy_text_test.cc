#include "connector/process/lossy_text.h"

#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "value/json.h"

namespace sluice::connector::process {
namespace {

using namespace std::string_literals;

TEST(LossyText, KeepsWhatIsUtf8) {
    auto text = "plain, \0, \u00E9, \u20AC, \uD7FF, \uFFFF, \U0001F600, \U0010FFFF"s;

    EXPECT_EQ(lossy_text(text), text);
    EXPECT_EQ(lossy_text(""), "");
}

TEST(LossyText, ReplacesEachByteThatIsNot) {
    auto mark = "\uFFFD"s;

    EXPECT_EQ(lossy_text("a\xFFz"), "a" + mark + "z");
    EXPECT_EQ(lossy_text("\xC0\xAF"), mark + mark);            // overlong
    EXPECT_EQ(lossy_text("\xE0\x80\xAF"), mark + mark + mark); // overlong
    EXPECT_EQ(lossy_text("\xED\xA0\x80"), mark + mark + mark); // surrogate
    EXPECT_EQ(lossy_text("\xF4\x90\x80\x80"), mark + mark + mark + mark);
    EXPECT_EQ(lossy_text("\xE2\x82"), mark + mark); // cut off at the end
    EXPECT_EQ(lossy_text("\x82\xAC"
                         "x"),
              mark + mark + "x"); // cut off at the beginning
    EXPECT_EQ(lossy_text("\xE2\x82\xE2\x82\xAC"), mark + mark + "\u20AC");
}

RC_GTEST_PROP(LossyText, IsAlwaysAJsonString, (const std::string& bytes)) {
    auto text = lossy_text(bytes);
    auto json = std::string{};
    value::write_json_string(text, json);

    auto parsed = value::parse_json(json);

    RC_ASSERT(parsed.has_value());
    RC_ASSERT(parsed->as_string() == text);
    RC_ASSERT(lossy_text(text) == text);
}

} // namespace
} // namespace sluice::connector::process
