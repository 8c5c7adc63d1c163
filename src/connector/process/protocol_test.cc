#include "connector/process/protocol.h"

#include <gtest/gtest.h>

#include "value/json.h"

namespace sluice::connector::process {
namespace {

TEST(WorkerProtocol, AsksWithTheWholeCall) {
    auto line = request_line(7, {.key = "team/r1/4/2",
                                 .token = "t",
                                 .target = "resize",
                                 .attempt = 3,
                                 .payload = Value::object({{"a", "line\nend"}})});

    ASSERT_EQ(line.find('\n'), line.size() - 1);
    auto request = value::parse_json(line);
    ASSERT_TRUE(request);
    EXPECT_EQ(*request, Value::object({{"id", 7},
                                       {"function", "resize"},
                                       {"input", Value::object({{"a", "line\nend"}})},
                                       {"run", "r1"},
                                       {"idempotency_key", "team/r1/4/2"},
                                       {"attempt", 3},
                                       {"token", "t"}}));
    EXPECT_NE(request_line(1, {.key = "r1/4/2"}).find(R"("run":"r1")"), std::string::npos);
}

TEST(WorkerProtocol, ReadsResultsErrorsAndHeartbeats) {
    auto result = read_line(7, R"({"id": 7, "result": [1]})");
    auto error = read_line(7, R"({"id": 7, "error": {"kind": "k", "message": "m", "detail": 1}})");
    auto brief = read_line(7, R"({"id": 7, "error": "no"})");
    auto beat = read_line(7, R"({"id": 7, "heartbeat": true})");

    ASSERT_TRUE(result && error && brief && beat);
    EXPECT_EQ(std::get<event::Answer>(*result).result, Value::list({1}));
    EXPECT_EQ(std::get<event::Answer>(*error).error_kind, "k");
    EXPECT_EQ(std::get<event::Answer>(*error).error_detail, Value{1});
    EXPECT_EQ(std::get<event::Answer>(*brief).error_message, "no");
    EXPECT_FALSE(std::get<event::Answer>(*brief).is_success);
    EXPECT_TRUE(std::holds_alternative<Heartbeat>(*beat));
}

TEST(WorkerProtocol, RefusesAnythingElse) {
    for (const auto* line : {"", "7", "{", R"({"result": 1})", R"({"id": 8, "result": 1})",
                             R"({"id": "7", "result": 1})", R"({"id": 7})"}) {
        EXPECT_FALSE(read_line(7, line)) << line;
    }
}

} // namespace
} // namespace sluice::connector::process
