#include "event/s3_notification.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "value/time_text.h"

namespace sluice::event {
namespace {

using ::testing::HasSubstr;

constexpr auto put_record = std::string_view{
    R"({"eventVersion": "2.1", "eventSource": "aws:s3", "awsRegion": "eu-central-1",
        "eventTime": "2026-11-15T05:57:30.250Z", "eventName": "ObjectCreated:Put",
        "s3": {"bucket": {"name": "pictures"},
               "object": {"key": "in/a+b%C3%BC.jpg", "size": 7, "eTag": "e1", "sequencer": "0A"}}})"};

std::string records(const std::vector<std::string_view>& each) {
    auto json = std::string{R"({"Records": [)"};
    for (auto record : each) {
        json += json.ends_with('[') ? "" : ",";
        json += record;
    }
    return json + "]}";
}

TEST(S3Notification, BecomesEvents) {
    auto events = read_s3_notification(records({put_record}));
    ASSERT_TRUE(events) << events.error().message;
    ASSERT_EQ(events->size(), 1U);
    const auto& event = events->front();

    EXPECT_EQ(event.type(), "com.amazonaws.s3.objectcreated.put");
    EXPECT_EQ(event.source(), "aws:s3.eu-central-1.pictures");
    EXPECT_EQ(event.subject(), "in/a bü.jpg");
    EXPECT_EQ(event.time(), value::parse_time("2026-11-15T05:57:30.25Z").value());
    auto path = std::vector<std::string_view>{"s3", "object", "size"};
    EXPECT_EQ(event.data_at(path), Value{7});
}

TEST(S3Notification, HasTheSameIdWhenItComesAgain) {
    auto first = read_s3_notification(records({put_record})).value();
    auto again = read_s3_notification(records({put_record})).value();
    auto next = std::string{put_record};
    next.replace(next.find("0A"), 2, "0B");

    EXPECT_EQ(first[0].id(), again[0].id());
    EXPECT_NE(first[0].id(), read_s3_notification(records({next})).value()[0].id());
}

TEST(S3Notification, TakesWhatMinioSends) {
    auto events = read_s3_notification(
        R"({"EventName": "s3:ObjectRemoved:Delete", "Key": "b/k", "Records": [
            {"eventVersion": "2.0", "eventSource": "minio:s3", "awsRegion": "",
             "eventTime": "2026-11-15T05:57:30Z", "eventName": "s3:ObjectRemoved:Delete",
             "s3": {"bucket": {"name": "b"}, "object": {"key": "100%", "sequencer": "1"}}}]})");
    ASSERT_TRUE(events) << events.error().message;
    EXPECT_EQ(events->front().type(), "com.amazonaws.s3.objectremoved.delete");
    EXPECT_EQ(events->front().source(), "minio:s3..b");
    EXPECT_EQ(events->front().subject(), "100%");
}

TEST(S3Notification, KnowsTheTestEvent) {
    auto events =
        read_s3_notification(R"({"Service": "Amazon S3", "Event": "s3:TestEvent", "Bucket": "b"})");
    ASSERT_TRUE(events);
    EXPECT_TRUE(events->empty());
}

TEST(S3Notification, SaysWhichRecordIsWrong) {
    EXPECT_THAT(read_s3_notification("[]").error().message, HasSubstr("Records"));
    EXPECT_THAT(read_s3_notification("{").error().message, ::testing::Not(""));
    auto message = read_s3_notification(records({put_record, R"({"s3": 7})"})).error().message;
    EXPECT_THAT(message, HasSubstr("Records[1]: expected eventName"));
    auto bad = std::string{put_record};
    bad.replace(bad.find("2026"), 4, "soon");
    EXPECT_THAT(read_s3_notification(records({bad})).error().message, HasSubstr("time"));
}

} // namespace
} // namespace sluice::event
