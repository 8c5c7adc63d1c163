#include "workflow/asl/object_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "value/json.h"

namespace sluice::workflow::asl {
namespace {

using ::testing::HasSubstr;

class ObjectCalls : public ::testing::Test {
protected:
    Value call(std::string_view action, std::string_view arguments) {
        auto answer = call_objects(objects_, std::string{"aws-sdk:s3:"} + std::string{action},
                                   *value::parse_json(arguments));
        return answer.is_success ? answer.result
                                 : Value{answer.error_kind + ": " + answer.error_message};
    }
    std::string keys(const Value& listed) {
        auto text = std::string{};
        for (const auto& each : listed.find("Contents")->as_list()) {
            text += std::string{each.find("Key")->as_string()} + " ";
        }
        return text;
    }

    ObjectsInMemory objects_ = *ObjectsInMemory::read_form(*value::parse_json(
        R"([{"bucket": "b", "key": "a/1", "body": "x"}, {"bucket": "b", "key": "a/2", "body": "y"},
            {"bucket": "b", "key": "c", "body": "z"}])"));
};

TEST_F(ObjectCalls, GetWhatWasPut) {
    auto put = call("putObject", R"({"Bucket": "b", "Key": "k", "Body": {"n": 1}})");
    auto got = call("getObject", R"({"Bucket": "b", "Key": "k"})");

    EXPECT_EQ(*got.find("Body"), Value{R"({"n":1})"});
    EXPECT_EQ(*got.find("ContentLength"), Value{7});
    EXPECT_EQ(*got.find("ETag"), *put.find("ETag"));
}

TEST_F(ObjectCalls, AreRefusedAsTheServiceDoes) {
    EXPECT_EQ(call("getObject", R"({"Bucket": "b", "Key": "no"})"),
              Value{"S3.NoSuchKeyException: The specified key does not exist. (Service: S3, Status "
                    "Code: 404)"});
}

TEST_F(ObjectCalls, ListInPages) {
    auto first = call("listObjectsV2", R"({"Bucket": "b", "MaxKeys": 2})");
    EXPECT_EQ(keys(first), "a/1 a/2 ");
    EXPECT_EQ(*first.find("IsTruncated"), Value{true});

    auto token = std::string{first.find("NextContinuationToken")->as_string()};
    auto rest =
        call("listObjectsV2", R"({"Bucket": "b", "ContinuationToken": ")" + token + R"("})");
    EXPECT_EQ(keys(rest), "c ");
    EXPECT_EQ(*rest.find("IsTruncated"), Value{false});
}

TEST_F(ObjectCalls, ListFoldersOnce) {
    auto listed = call("listObjectsV2", R"({"Bucket": "b", "Delimiter": "/"})");

    EXPECT_EQ(keys(listed), "c ");
    EXPECT_EQ(value::to_json(*listed.find("CommonPrefixes")), R"([{"Prefix":"a/"}])");
    EXPECT_EQ(*listed.find("KeyCount"), Value{2});
}

} // namespace
} // namespace sluice::workflow::asl
