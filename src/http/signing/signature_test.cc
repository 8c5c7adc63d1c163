#include "http/signing/signature.h"

#include <gtest/gtest.h>

namespace sluice::http::signing {
namespace {

constexpr auto secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
constexpr auto digest = "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7";

/// The example that the service's documentation works out.
Request documented_request() {
    return {.method = Method::Get,
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

/// On the day of the example.
Time at(int hour, int minute) {
    using namespace std::chrono_literals;
    return std::chrono::sys_days{2015y / 8 / 30} + std::chrono::hours{hour} +
           std::chrono::minutes{minute};
}

TEST(Signature, IsWhatTheServiceWorksOut) {
    auto signature = documented_signature();

    EXPECT_EQ(signature.key, "AKIDEXAMPLE");
    EXPECT_EQ(signature.digest_of(documented_request(), secret), digest);
    EXPECT_TRUE(signature.check(documented_request(), secret, at(12, 40)));
}

TEST(Signature, IsRefusedForAnotherSecretBodyOrTarget) {
    auto signature = documented_signature();
    auto now = at(12, 36);
    auto changed = documented_request();
    changed.body = "x";
    auto moved = documented_request();
    moved.target = "/?Action=DeleteUser&Version=2010-05-08";

    EXPECT_EQ(signature.check(documented_request(), "other", now).error().code, Errc::Conflict);
    EXPECT_FALSE(signature.check(changed, secret, now));
    EXPECT_FALSE(signature.check(moved, secret, now));
}

TEST(Signature, IsOfNowOrIsRefused) {
    auto signature = documented_signature();

    EXPECT_FALSE(signature.check(documented_request(), secret, at(12, 52)));
    EXPECT_FALSE(signature.check(documented_request(), secret, at(12, 20)));
}

TEST(Signature, NeedsAllItsParts) {
    for (const auto* text :
         {"AWS4-HMAC-SHA256",
          "AWS4-HMAC-SHA256 Credential=a/b/c/d, SignedHeaders=host, Signature=1",
          "AWS4-HMAC-SHA256 Credential=a/b/c/d/e, SignedHeaders=x-amz-date, Signature=1",
          "AWS4-HMAC-SHA256 Credential=a/b/c/d/e, SignedHeaders=host, Signature="}) {
        EXPECT_EQ(Signature::parse(text).error().code, Errc::InvalidInput) << text;
    }
}

TEST(Signature, IsMadeAsItIsChecked) {
    auto url = parse_url("https://s3.example.org:9000/bucket/a%20b?prefix=x&list-type=2").value();
    auto request = Request{.method = Method::Put, .body = "content"};

    sign(request, url, {"KEY", secret, "eu-west-1", "s3"}, at(12, 36));

    auto received = request;
    received.target = url.target;
    received.headers.set("Host", "s3.example.org:9000");
    auto signature = Signature::parse(*received.headers.find("Authorization")).value();
    EXPECT_EQ(signature.key, "KEY");
    EXPECT_EQ(signature.region, "eu-west-1");
    EXPECT_TRUE(signature.check(received, secret, at(12, 40)));
    received.body = "other";
    EXPECT_FALSE(signature.check(received, secret, at(12, 40)));
}

} // namespace
} // namespace sluice::http::signing
