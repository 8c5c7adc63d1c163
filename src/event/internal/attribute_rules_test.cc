#include "event/internal/attribute_rules.h"

#include <gtest/gtest.h>

namespace sluice::event::internal {

TEST(AttributeRules, KnowRelativeReferences) {
    for (auto text : {"", "/s", "1-555-123-4567", "a/b:c", "./a:b", "//host", "//u:p@host:80/x",
                      "?q=/?", "#f", "a%20b", "//[::1]:1/"}) {
        EXPECT_EQ(classify_uri(text), UriKind::Relative) << text;
    }
}

TEST(AttributeRules, KnowAbsoluteUris) {
    for (auto text : {"http://x.org/s", "urn:uuid:6e8bc430", "mailto:a@b.c",
                      "a+b-c.d:", "https://[2001:db8::1]/?a=b#c", "file:///x", "http://x:/"}) {
        EXPECT_EQ(classify_uri(text), UriKind::Absolute) << text;
    }
}

TEST(AttributeRules, KnowWhatIsNoUri) {
    for (auto text : {" ",     "a b",  "%",      "%4",     "%4g",          "1:2",     ":a",
                      "a#b#c", "[a]",  "//h:8a", "//[::1", "//[]",         "//a@b@c", "<x>",
                      "\"",    "a\\b", "é",      "a^b",    "http://x/{y}", "a\x7F"}) {
        EXPECT_EQ(classify_uri(text), UriKind::Invalid) << text;
    }
}

TEST(AttributeRules, KnowMediaTypes) {
    for (auto text : {"a/b", "application/vnd.x+json", "text/plain;charset=utf-8",
                      "a/b ; c=\"d;\\\" e\" ;f=g"}) {
        EXPECT_TRUE(is_media_type(text)) << text;
    }
    for (auto text : {"", "a", "a/", "/b", "a/b/c", "a b/c", "a/b;", "a/b; c",
                      "a/b; c=", "a/b; c=\"d", "a/b c=d", "a/b; =c"}) {
        EXPECT_FALSE(is_media_type(text)) << text;
    }
}

} // namespace sluice::event::internal
