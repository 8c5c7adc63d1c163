#include "server/stepfunctions/signature.h"

#include <gtest/gtest.h>

#include "value/time_text.h"

namespace sluice::server::stepfunctions {
namespace {

constexpr auto secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
constexpr auto digest = "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7";

/// The example that the service's documentation works out.
http::Request documented_request() {
    return {.method = http::Method::Get,
            .target = "/?Action=ListUsers&Version=2010-05-08",
            .headers = {{"Host", "iam.amazonaws.com"},
                        {"Content-Type", " application/x-www-form-urlencoded;   charset=utf-8 "},
                        {"X-Amz-Date", "20150830T123600Z"}}};
}

Signature documented_signature() {
    return Signature::parse(
               std::string{"AWS4-HMAC-SHA256 "
                           "Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, "
                           "SignedHeaders=content-type;host;x-amz-date, Signature="} +
               digest)
        .value();
}

Time at(std::string_view text) {
    return value::parse_time(text).value();
}

TEST(Signature, IsWhatTheServiceWorksOut) {
    auto signature = documented_signature();

    EXPECT_EQ(signature.key, "AKIDEXAMPLE");
    EXPECT_EQ(signature.digest_of(documented_request(), secret), digest);
    EXPECT_TRUE(signature.check(documented_request(), secret, at("2015-08-30T12:40:00Z")));
}

TEST(Signature, IsRefusedForAnotherSecretBodyOrTarget) {
    auto signature = documented_signature();
    auto now = at("2015-08-30T12:36:00Z");
    auto changed = documented_request();
    changed.body = "x";
    auto moved = documented_request();
    moved.target = "/?Action=DeleteUser&Version=2010-05-08";

    EXPECT_EQ(signature.check(documented_request(), "other", now).error().type,
              "InvalidSignatureException");
    EXPECT_FALSE(signature.check(changed, secret, now));
    EXPECT_FALSE(signature.check(moved, secret, now));
}

TEST(Signature, IsOfNowOrIsRefused) {
    auto signature = documented_signature();

    EXPECT_FALSE(signature.check(documented_request(), secret, at("2015-08-30T12:52:00Z")));
    EXPECT_FALSE(signature.check(documented_request(), secret, at("2015-08-30T12:20:00Z")));
}

TEST(Signature, NeedsAllItsParts) {
    for (const auto* text :
         {"AWS4-HMAC-SHA256",
          "AWS4-HMAC-SHA256 Credential=a/b/c/d, SignedHeaders=host, Signature=1",
          "AWS4-HMAC-SHA256 Credential=a/b/c/d/e, SignedHeaders=x-amz-date, Signature=1",
          "AWS4-HMAC-SHA256 Credential=a/b/c/d/e, SignedHeaders=host, Signature="}) {
        EXPECT_EQ(Signature::parse(text).error().type, "IncompleteSignature") << text;
    }
}

} // namespace
} // namespace sluice::server::stepfunctions
