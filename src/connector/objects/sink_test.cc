#include "connector/objects/sink.h"

#include <filesystem>
#include <future>

#include <gtest/gtest.h>
#include <unistd.h>

#include "value/json.h"

namespace sluice::connector::objects {
namespace {

namespace fs = std::filesystem;

class ObjectSink : public ::testing::Test {
protected:
    ObjectSink() { fs::create_directories(root_); }
    ~ObjectSink() override { fs::remove_all(root_); }

    event::Answer call(std::string target, std::string_view payload, std::string space = "team") {
        auto form = BucketForm{.name = "b", .directory = root_, .namespaces = {"team"}};
        auto sink = Sink{*Buckets::open({form}, nullptr, clock_)};
        auto promise = std::promise<event::Answer>{};
        auto answer = promise.get_future();
        auto delivery = event::Delivery{};
        delivery.target = std::move(target);
        delivery.space = std::move(space);
        delivery.payload = *value::parse_json(payload);
        sink.deliver(std::move(delivery),
                     [&](event::Answer given) { promise.set_value(std::move(given)); });
        return answer.get();
    }

    SystemClock clock_;
    fs::path root_ = fs::temp_directory_path() / fmt::format("sink-{}", ::getpid());
};

TEST_F(ObjectSink, ReadsItemsOfWhatWasPut) {
    EXPECT_TRUE(call("aws-sdk:s3:putObject", R"({"Bucket": "b", "Key": "k", "Body": "[1, 2]"})")
                    .is_success);

    auto page = call("sluice.items", R"({"resource": "arn:aws:states:::s3:getObject", "config": {},
                                         "arguments": {"Bucket": "b", "Key": "k"}})");

    EXPECT_EQ(value::to_json(page.result), R"({"items":[1,2]})");
}

TEST_F(ObjectSink, FailsByTheNamesOfTheService) {
    auto request = std::string_view{R"({"resource": "s3:getObject", "config": {},
                                        "arguments": {"Bucket": "b", "Key": "none"}})"};

    EXPECT_EQ(call("sluice.items", request).error_kind, "States.ItemReaderFailed");
    EXPECT_EQ(call("aws-sdk:s3:getObject", R"({"Bucket": "b", "Key": "k"})", "other").error_kind,
              "S3.NoSuchBucketException");
    auto results = call("sluice.results", R"({"arguments": {"Bucket": "c"}, "config": {},
        "name": "n", "numbers": [0, 0, 0], "records": [{"status": "SUCCEEDED"}]})");
    EXPECT_EQ(results.error_kind, "States.ResultWriterFailed");
}

} // namespace
} // namespace sluice::connector::objects
