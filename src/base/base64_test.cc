#include "base/base64.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sluice {
namespace {

TEST(Base64, DecodesWhatIsPaddedAndCanonical) {
    EXPECT_EQ(base64_decode(""), "");
    EXPECT_EQ(base64_decode("Zg=="), "f");
    EXPECT_EQ(base64_decode("Zm8="), "fo");
    EXPECT_EQ(base64_decode("Zm9vYmE="), "fooba");
    EXPECT_EQ(base64_decode("+/+/"), "\xFB\xFF\xBF");
    for (auto text : {"Z", "Zg", "Zg=", "Zh==", "Zm9=", "====", "=", "Zg==Zg==", "Zm9v\n", "Zm-_",
                      "Z===", "\xC3\xA9\xC3\xA9"}) {
        EXPECT_FALSE(base64_decode(text)) << text;
        EXPECT_FALSE(is_base64(text)) << text;
    }
}

RC_GTEST_PROP(Base64, DecodesWhatItEncodes, (const std::string& bytes)) {
    auto text = base64_encode(bytes);

    RC_ASSERT(is_base64(text));
    RC_ASSERT(base64_decode(text).value() == bytes);
}

} // namespace
} // namespace sluice
