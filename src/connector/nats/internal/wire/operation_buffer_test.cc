#include "connector/nats/internal/wire/operation_buffer.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::connector::nats::internal::wire {

namespace {

using ::testing::HasSubstr;

void pour(OperationBuffer& buffer, std::string_view bytes) {
    while (!bytes.empty()) {
        auto room = buffer.room();
        auto part = bytes.substr(0, room.size());
        std::ranges::copy(part, room.begin());
        buffer.add(part.size());
        bytes.remove_prefix(part.size());
    }
}

/// As text, one for each operation, so that they outlive the buffer.
std::string shown(const Operation& operation) {
    return fmt::format("{} {}|{}|{}|{}|{}|{}", static_cast<int>(operation.verb), operation.text,
                       operation.subject, operation.subscription, operation.reply, operation.header,
                       operation.body);
}

std::vector<std::string> read_in_steps(std::string_view bytes, std::size_t step) {
    auto buffer = OperationBuffer{};
    auto found = std::vector<std::string>{};
    while (!bytes.empty()) {
        pour(buffer, bytes.substr(0, step));
        bytes.remove_prefix(std::min(step, bytes.size()));
        for (auto next = buffer.next().value(); next; next = buffer.next().value()) {
            found.push_back(shown(*next));
        }
    }
    return found;
}

std::string misread_of(std::string_view bytes) {
    auto buffer = OperationBuffer{};
    pour(buffer, bytes);
    auto next = buffer.next();
    return next ? std::string{} : next.error().message;
}

constexpr auto session = std::string_view{
    "INFO {\"headers\":true}\r\n+OK\r\nPING\r\nPONG \r\nMSG s.a 1 5\r\nhello\r\n"
    "MSG s.a 12 $JS.ACK.x 0\r\n\r\nHMSG s.b 3 _R 12 17\r\nNATS/1.0\r\n\r\nhel\nl\r\n"
    "HMSG\ts.c  4\t16 16\r\nNATS/1.0 503\r\n\r\n\r\n-ERR 'Stale Connection'\r\n"};

} // namespace

TEST(OperationBuffer, ReadsWhatAServerSays) {
    auto found = read_in_steps(session, session.size());

    EXPECT_EQ(found, (std::vector<std::string>{
                         "0 {\"headers\":true}||0|||", "4 ||0|||", "2 ||0|||", "3 ||0|||",
                         "1 |s.a|1|||hello", "1 |s.a|12|$JS.ACK.x||",
                         "1 |s.b|3|_R|NATS/1.0\r\n\r\n|hel\nl", "1 |s.c|4||NATS/1.0 503\r\n\r\n|",
                         "5 Stale Connection||0|||"}));
}

TEST(OperationBuffer, ReadsTheSameHoweverItIsCut) {
    auto whole = read_in_steps(session, session.size());

    for (auto step = std::size_t{1}; step < 40; ++step) {
        EXPECT_EQ(read_in_steps(session, step), whole) << step;
    }
}

TEST(OperationBuffer, TakesMessagesLargerThanWhatIsUsual) {
    auto body = std::string(3'000'000, 'x');
    auto message = fmt::format("MSG s 1 {}\r\n{}\r\n", body.size(), body);
    auto buffer = OperationBuffer{};

    for (auto round = 0; round < 3; ++round) {
        pour(buffer, "PING\r\n");
        pour(buffer, message);
        EXPECT_EQ(buffer.next().value()->verb, Verb::Ping);
        EXPECT_EQ(buffer.next().value()->body, body);
        EXPECT_FALSE(buffer.next().value());
    }
}

TEST(OperationBuffer, SaysWhatItFoundInstead) {
    EXPECT_THAT(misread_of("HTTP/1.1 400 Bad Request\r\n"),
                HasSubstr("expected an operation of NATS, found 'HTTP/1.1 400"));
    EXPECT_THAT(misread_of("PING\n"), HasSubstr("CR LF"));
    EXPECT_THAT(misread_of("MSG s 1\r\n"), HasSubstr("found 'MSG s 1'"));
    EXPECT_THAT(misread_of("MSG s x 1\r\n"), HasSubstr("subscription"));
    EXPECT_THAT(misread_of("MSG s 1 r 5 6 7\r\n"), HasSubstr("subscription"));
    EXPECT_THAT(misread_of("MSG s 1 -5\r\n"), HasSubstr("sizes"));
    EXPECT_THAT(misread_of("HMSG s 1 5\r\n"), HasSubstr("found 'HMSG s 1 5'"));
    EXPECT_THAT(misread_of("HMSG s 1 6 5\r\n"), HasSubstr("sizes"));
    EXPECT_THAT(misread_of("MSG s 1 2\r\nabcd"), HasSubstr("CR LF behind a message"));
}

TEST(OperationBuffer, RefusesWhatIsTooLarge) {
    EXPECT_THAT(misread_of("MSG s 1 83886081\r\n"), HasSubstr("at most 83886080"));
    EXPECT_THAT(misread_of("MSG s 1 99999999999999999999999\r\n"), HasSubstr("sizes"));
    EXPECT_THAT(misread_of(std::string(OperationBuffer::line_bytes_max + 1, 'x')),
                HasSubstr("a line of more than"));
}

} // namespace sluice::connector::nats::internal::wire
