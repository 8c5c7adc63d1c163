#include "connector/nats/internal/wire/header.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::connector::nats::internal::wire {

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Header header_of(std::string_view text) {
    auto header = Header{.status = "old", .description = "old", .fields = {{"old", "old"}}};
    read_header(text, header);
    return header;
}

} // namespace

TEST(Header, GivesTheFieldsThatAreNotJetStreams) {
    auto header = header_of(
        "NATS/1.0\r\nNats-Msg-Id: 7\r\nce-id:1\r\nContent-Type:  text/plain \r\nempty:\r\n\r\n");

    EXPECT_EQ(header.status, "");
    EXPECT_EQ(header.description, "");
    EXPECT_THAT(header.fields, ElementsAre(Field{"ce-id", "1"}, Field{"Content-Type", "text/plain"},
                                           Field{"empty", ""}));
}

TEST(Header, TellsWhatTheServerSays) {
    auto header = header_of("NATS/1.0 408 Request Timeout\r\nNats-Pending-Messages: 1\r\n\r\n");

    EXPECT_EQ(header.status, "408");
    EXPECT_EQ(header.description, "Request Timeout");
    EXPECT_THAT(header.fields, IsEmpty());
    EXPECT_EQ(header_of("NATS/1.0 503\r\n\r\n").status, "503");
}

TEST(Header, KeepsTheFirstOfAName) {
    EXPECT_THAT(header_of("NATS/1.0\r\na: 1\r\na: 2\r\n\r\n").fields, ElementsAre(Field{"a", "1"}));
}

TEST(Header, IsReadAsFarAsItCanBeUnderstood) {
    EXPECT_THAT(header_of("").fields, IsEmpty());
    EXPECT_THAT(header_of("HTTP/1.1 200\r\na: 1\r\n\r\n").fields, IsEmpty());
    EXPECT_THAT(header_of("NATS/1.0\r\n: 1\r\n more: x\r\nnone\r\nb:2").fields,
                ElementsAre(Field{"b", "2"}));
}

TEST(Header, HasABound) {
    auto text = std::string{"NATS/1.0\r\n"};
    for (auto at = 0; at < 2000; ++at) {
        text += fmt::format("f{}: {}\r\n", at, at);
    }

    EXPECT_THAT(header_of(text).fields, SizeIs(header_fields_max));
}

} // namespace sluice::connector::nats::internal::wire
