#include "base/fingerprint.h"

#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sluice {

// Stored data holds these numbers: a test that fails here means a function that must not have
// changed.
TEST(Fingerprint, OfOneTextNeverChanges) {
    // The first is XXH3's own published answer for no bytes at all.
    EXPECT_EQ(fingerprint(""), (Fingerprint{0x99aa06d3014798d8, 0x6001c324468d497f}));
    EXPECT_EQ(fingerprint("a"), (Fingerprint{0xa96faf705af16834, 0xe6c632b61e964e1f}));
    EXPECT_EQ(fingerprint("sluice"), (Fingerprint{0xadbab6796a85b841, 0x28d6b41d9413a19d}));
    EXPECT_EQ(fingerprint("event-driven"), (Fingerprint{0x6affb8247617b814, 0xe8190aee1890581b}));
}

// XXH3 takes another way for each range of lengths.
TEST(Fingerprint, OfALongTextNeverChanges) {
    EXPECT_EQ(fingerprint(std::string(200, 'x')),
              (Fingerprint{0x062dfbe359870f1a, 0x0f7bed28ebd8500d}));
    EXPECT_EQ(fingerprint(std::string(1000, 'x')),
              (Fingerprint{0x50a1af5a5f2dcf01, 0xc0a4877b962cba82}));
}

TEST(Fingerprint, OfTwoTextsNeverChanges) {
    EXPECT_EQ(fingerprint("a", "bc"), (Fingerprint{0xb70357c71722534f, 0x1b211c5853d65101}));
    EXPECT_EQ(fingerprint("ab", "c"), (Fingerprint{0x00ffa8a2e00c39e8, 0xbe3f324becd703fc}));
    EXPECT_EQ(fingerprint("", ""), (Fingerprint{0x7a3edd697cf3f953, 0x7e166309f6e1f614}));
    EXPECT_EQ(fingerprint("source", "id"), (Fingerprint{0xd6b629bf57c1a162, 0x0bebc88a7fb60c12}));
}

TEST(Fingerprint, Hash64NeverChanges) {
    EXPECT_EQ(hash64(""), 0x2d06800538d394c2);
    EXPECT_EQ(hash64("sluice"), 0x7e13095f1588691d);
    EXPECT_EQ(hash64("sluice", 7), 0x94347715eec32ee8);
    EXPECT_EQ(hash64(std::string(1000, 'x'), 7), 0xa6b046c257309584);
}

TEST(Fingerprint, IsOrderedByItsHighHalfFirst) {
    EXPECT_LT((Fingerprint{1, 9}), (Fingerprint{2, 0}));
    EXPECT_LT((Fingerprint{1, 1}), (Fingerprint{1, 2}));
}

RC_GTEST_PROP(Fingerprint, WhereOneTextEndsCounts,
              (const std::string& first, char between, const std::string& second)) {
    RC_ASSERT(fingerprint(first + between, second) != fingerprint(first, between + second));
}

} // namespace sluice
