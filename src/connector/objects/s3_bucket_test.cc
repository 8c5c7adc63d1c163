#include "connector/objects/s3_bucket.h"

#include <map>
#include <mutex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connector/objects/buckets.h"
#include "http/server.h"
#include "observe/diagnostics.h"

namespace sluice::connector::objects {
namespace {

namespace http = sluice::http;
using ::testing::HasSubstr;

/// A store that speaks as S3 does, and takes nothing that is not signed.
class FakeS3 {
public:
    std::string url() const { return fmt::format("http://127.0.0.1:{}", server_->port()); }

    int refusals = 0; ///< So many requests are refused first.

private:
    http::Response answer(const http::Request& request) {
        auto lock = std::lock_guard{mutex_};
        const auto* header = request.headers.find("Authorization");
        auto signature =
            header == nullptr
                ? Result<http::signing::Signature>{fail(Errc::InvalidInput, "not signed")}
                : http::signing::Signature::parse(*header);
        if (!signature || signature->service != "s3" || signature->region != "eu-west-1" ||
            !signature->check(request, "geheim", clock_.wall())) {
            return {.status = 403, .body = "<Error><Code>SignatureDoesNotMatch</Code></Error>"};
        }
        if (refusals-- > 0) {
            return {.status = 503, .body = "<Error><Code>SlowDown</Code></Error>"};
        }
        auto target = *http::parse_target(request.target);
        if (target.segments.front() != "orders") {
            return {.status = 404, .body = "<Error><Code>NoSuchBucket</Code></Error>"};
        }
        auto key = request.target.substr(std::string{"/orders"}.size());
        if (target.find("list-type") != nullptr) {
            return {.body = listing(target)};
        }
        auto name = *http::percent_decode(key.substr(1));
        if (request.method == http::Method::Put) {
            contents_[name] = request.body;
            return {};
        }
        auto found = contents_.find(name);
        if (found == contents_.end()) {
            return {.status = 404, .body = "<Error><Code>NoSuchKey</Code></Error>"};
        }
        return object(request, found->second);
    }

    static http::Response object(const http::Request& request, const std::string& content) {
        const auto* range = request.headers.find("Range");
        if (range == nullptr) {
            return {
                .headers = {{"ETag", "\"e\""}, {"Last-Modified", "Mon, 16 Nov 2026 05:10:11 GMT"}},
                .body = content};
        }
        auto from = std::stoul(range->substr(6));
        auto to = std::stoul(range->substr(range->find('-') + 1));
        if (from >= content.size()) {
            return {.status = 416};
        }
        return {.status = 206, .body = content.substr(from, to - from + 1)};
    }

    std::string listing(const http::Target& target) {
        auto xml = std::string{"<?xml version=\"1.0\"?><ListBucketResult xmlns=\"…\">"};
        const auto* after = target.find("start-after");
        auto left = std::stoul(*target.find("max-keys"));
        for (const auto& [key, content] : contents_) {
            if (key.starts_with(*target.find("prefix")) && left > 0 &&
                (after == nullptr || key > *after)) {
                auto escaped = key;
                for (auto at = escaped.find('&'); at != std::string::npos;
                     at = escaped.find('&', at + 1)) {
                    escaped.replace(at, 1, "&amp;");
                }
                xml += fmt::format(
                    "<Contents><Key>{}</Key><LastModified>2026-11-16T05:10:11.000Z</LastModified>"
                    "<ETag>&quot;e&quot;</ETag><Size>{}</Size></Contents>",
                    escaped, content.size());
                --left;
            }
        }
        return xml + "</ListBucketResult>";
    }

    SystemClock clock_;
    std::mutex mutex_;
    std::map<std::string, std::string> contents_;
    observe::NullDiagnostics diagnostics_;
    std::unique_ptr<http::Server> server_ = *http::Server::open(
        {},
        [this](const http::Request& request, const std::shared_ptr<http::Exchange>& exchange) {
            exchange->answer(answer(request));
        },
        diagnostics_);
};

class S3BucketTest : public ::testing::Test {
protected:
    S3Bucket bucket(std::string secret = "geheim", std::string name = "orders") {
        return {{.endpoint = *http::parse_url(s3_.url()),
                 .bucket = std::move(name),
                 .region = "eu-west-1",
                 .access_key = "KEY",
                 .secret_key = std::move(secret)},
                *client_,
                clock_};
    }

    SystemClock clock_;
    FakeS3 s3_;
    std::unique_ptr<http::Client> client_ = http::Client::create();
};

TEST_F(S3BucketTest, ReadsPartsOfWhatWasWritten) {
    ASSERT_TRUE(bucket().write("in/a b&c+ü.txt", "0123456789"));

    EXPECT_EQ(bucket().read("in/a b&c+ü.txt", 2, 3), "234");
    EXPECT_EQ(bucket().read("in/a b&c+ü.txt", 8, 100), "89");
    EXPECT_EQ(bucket().read("in/a b&c+ü.txt", 10, 100), "");
    auto about = bucket().find("in/a b&c+ü.txt");
    EXPECT_EQ(about->bytes, 10U);
    EXPECT_EQ(about->etag, "\"e\"");
}

TEST_F(S3BucketTest, ListsPageByPage) {
    for (const auto* key : {"in/1", "in/2&3", "in/4", "out"}) {
        ASSERT_TRUE(bucket().write(key, "xy"));
    }

    auto first = *bucket().list("in/", "", 2);
    auto rest = *bucket().list("in/", first.back().key, 2);

    ASSERT_EQ(first.size(), 2U);
    EXPECT_EQ(first[1].key, "in/2&3");
    EXPECT_EQ(first[1].bytes, 2U);
    EXPECT_EQ(first[1].etag, "\"e\"");
    ASSERT_EQ(rest.size(), 1U);
    EXPECT_EQ(rest[0].key, "in/4");
}

TEST_F(S3BucketTest, TellsWhatIsNotThereFromWhatMayNotBe) {
    EXPECT_EQ(bucket().read("nothing", 0, 1).error().code, Errc::NotFound);
    EXPECT_EQ(bucket("geheim", "other").read("a", 0, 1).error().code, Errc::Unavailable);
    auto refused = bucket("another").read("a", 0, 1);
    EXPECT_EQ(refused.error().code, Errc::Conflict);
    EXPECT_THAT(refused.error().message, HasSubstr("SignatureDoesNotMatch"));
}

TEST_F(S3BucketTest, AsksAgainWhenItIsToSlowDown) {
    s3_.refusals = 2;

    EXPECT_TRUE(bucket().write("a", "x"));
}

TEST_F(S3BucketTest, IsFoundByItsForm) {
    auto problems = std::vector<trigger::Problem>{};
    auto form = Value::object({{"orders", Value::object({{"endpoint", s3_.url()},
                                                         {"region", "eu-west-1"},
                                                         {"access_key", "KEY"},
                                                         {"secret_key", "${secret:s3}"},
                                                         {"namespaces", Value::list({"team"})}})}});
    auto forms = read_buckets(form, problems);
    ASSERT_TRUE(problems.empty());
    auto secrets = secret::Secrets{{}, {{"SLUICE_SECRET_S3", "geheim"}}};

    auto buckets = *Buckets::open(forms, &secrets, clock_);

    EXPECT_TRUE(buckets->seen_by("team")->write("orders", "k", "x"));
    EXPECT_EQ(buckets->seen_by("team")->read("orders", "k", 0, 10), "x");
    EXPECT_EQ(buckets->seen_by("other")->read("orders", "k", 0, 10).error().code,
              Errc::Unavailable);
    EXPECT_EQ(buckets->seen_by("team")->read("none", "k", 0, 10).error().code, Errc::Unavailable);
}

TEST(S3Listing, IsReadOrRefused) {
    EXPECT_FALSE(read_listing("<html>"));
    EXPECT_TRUE(read_listing("<ListBucketResult/>")->empty());
    EXPECT_EQ(read_listing("<ListBucketResult><Contents><Key>&#97;&#x62;&lt;</Key></Contents>")
                  ->front()
                  .key,
              "ab<");
}

TEST(BucketForms, AreRefusedWithTheirPlace) {
    auto problems = std::vector<trigger::Problem>{};
    auto form = Value::object(
        {{"a", Value::object({{"directory", "/x"}, {"endpoint", "https://s3"}})},
         {"b", Value::object({{"endpoint", "no url"}})},
         {"c", Value::object({{"endpoint", "https://s3"}, {"access_key", "K"}})},
         {"d",
          Value::object({{"endpoint", "https://s3"}, {"access_key", "K"}, {"secret_key", "s"}})},
         {"*", Value::object({{"directory", "/x"}})},
         {"e", Value::object({{"directory", "/x"}, {"colour", "red"}})}});

    read_buckets(form, problems);

    auto paths = std::vector<std::string>{};
    for (const auto& problem : problems) {
        paths.push_back(problem.path);
    }
    EXPECT_THAT(paths, ::testing::ElementsAre("buckets/a/directory", "buckets/b/endpoint",
                                              "buckets/c/secret_key", "buckets/d/secret_key",
                                              "buckets/*/directory", "buckets/e/colour"));
}

} // namespace
} // namespace sluice::connector::objects
