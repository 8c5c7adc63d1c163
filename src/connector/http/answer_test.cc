#include "connector/http/answer.h"

#include <gtest/gtest.h>

namespace sluice::connector::http {
namespace {

using sluice::http::Response;

constexpr auto noon = Time{std::chrono::seconds{1'445'412'480}}; // Wed, 21 Oct 2015 07:28:00 GMT

event::Answer answer_to(int status, std::string type, std::string body) {
    auto response = Response{.status = status, .body = std::move(body)};
    if (!type.empty()) {
        response.headers.add("Content-Type", std::move(type));
    }
    return answer_of(response, noon);
}

TEST(HttpAnswer, TheBodyIsTheResultByItsType) {
    EXPECT_EQ(answer_to(200, "application/json; charset=utf-8", R"({"n": 1})").result,
              Value::object({{"n", 1}}));
    EXPECT_EQ(answer_to(200, "Application/Problem+JSON", "[1]").result, Value::list({1}));
    EXPECT_EQ(answer_to(201, "text/plain", "hello").result, Value{"hello"});
    EXPECT_EQ(answer_to(200, "image/png", "\x89PNG").result, Value::bytes("\x89PNG"));
    EXPECT_EQ(answer_to(200, "", "7").result, Value{7});
    EXPECT_EQ(answer_to(200, "", "seven").result, Value{"seven"});
    EXPECT_EQ(answer_to(204, "application/json", "").result, Value{});
}

TEST(HttpAnswer, JsonThatIsNoneIsAnError) {
    auto answer = answer_to(200, "application/json", "{oops");

    EXPECT_EQ(answer.error_kind, "bad_output");
    EXPECT_EQ(*answer.error_detail.find("body"), Value{"{oops"});
}

TEST(HttpAnswer, ErrorsHaveKindsThatPoliciesName) {
    EXPECT_EQ(answer_to(400, "", "").error_kind, "rejected");
    EXPECT_EQ(answer_to(404, "", "").error_kind, "rejected");
    EXPECT_EQ(answer_to(408, "", "").error_kind, "failed");
    EXPECT_EQ(answer_to(429, "", "").error_kind, "busy");
    EXPECT_EQ(answer_to(500, "", "").error_kind, "failed");
    EXPECT_EQ(answer_to(503, "", "").error_kind, "busy");
    EXPECT_EQ(answer_to(302, "", "").error_kind, "bad_output");
    auto answer = answer_to(500, "text/plain", "stack\xFF");
    EXPECT_EQ(answer.error_message, "the function answered 500 Internal Server Error");
    EXPECT_EQ(*answer.error_detail.find("status"), Value{500});
    EXPECT_EQ(*answer.error_detail.find("body"), Value{"stack\uFFFD"});
}

TEST(HttpAnswer, AFunctionMayNameItsErrors) {
    auto answer = answer_to(409, "application/json", R"({"kind": "sold_out", "message": "none"})");
    auto problem = answer_to(422, "application/problem+json", R"({"detail": "no such colour"})");

    EXPECT_EQ(answer.error_kind, "sold_out");
    EXPECT_EQ(answer.error_message, "none");
    EXPECT_EQ(problem.error_kind, "rejected");
    EXPECT_EQ(problem.error_message, "no such colour");
}

TEST(HttpAnswer, RetryAfterIsSecondsOrADate) {
    auto after = [](std::string text) {
        return answer_of(Response{.status = 503, .headers = {{"Retry-After", std::move(text)}}},
                         noon)
            .retry_after;
    };
    EXPECT_EQ(after("7"), std::chrono::seconds{7});
    EXPECT_EQ(after("Wed, 21 Oct 2015 07:28:30 GMT"), std::chrono::seconds{30});
    EXPECT_EQ(after("Wed, 21 Oct 2015 07:27:30 GMT"), Nanos{0});
    EXPECT_EQ(after("-7"), Nanos{0});
    EXPECT_EQ(after("99999999999999999999"), Nanos{0});
    EXPECT_EQ(after("soon"), Nanos{0});
}

TEST(HttpAnswer, WhyThereIsNone) {
    auto kind = [](Errc code) { return answer_of(Error{code, "why"}).error_kind; };
    EXPECT_EQ(kind(Errc::LimitExceeded), "timeout");
    EXPECT_EQ(kind(Errc::Unavailable), "unreachable");
    EXPECT_EQ(kind(Errc::Io), "connection");
    EXPECT_EQ(kind(Errc::InvalidInput), "forbidden_address");
    EXPECT_EQ(kind(Errc::Unsupported), "bad_output");
}

} // namespace
} // namespace sluice::connector::http
