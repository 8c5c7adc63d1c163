#include "connector/http/invoke_sink.h"

#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/server.h"
#include "observe/diagnostics.h"
#include "value/json.h"

namespace sluice::connector::http {
namespace {

using sluice::http::Request;
using sluice::http::Response;
using ::testing::HasSubstr;

class HttpInvoke : public ::testing::Test {
protected:
    event::Answer call(std::string_view arguments, bool is_private = true) {
        auto problems = std::vector<trigger::Problem>{};
        auto connections = read_connections(
            *value::parse_json(
                R"({"crm": {"headers": {"X-Key": "k"}, "query": {"who": "me"}, "user": "u",
                            "password": "p", "namespaces": ["default"]},
                    "other": {"headers": {"X-Key": "o"}, "namespaces": ["elsewhere"]}})"),
            problems);
        EXPECT_TRUE(problems.empty());
        auto sink = InvokeSink{std::move(connections), is_private};
        auto promise = std::promise<event::Answer>{};
        auto answer = promise.get_future();
        auto delivery = event::Delivery{};
        delivery.space = "default";
        delivery.payload = value::parse_json(arguments)->with(
            "ApiEndpoint", fmt::format("http://127.0.0.1:{}/a?x=1", server_->port()));
        sink.deliver(std::move(delivery),
                     [&](event::Answer given) { promise.set_value(std::move(given)); });
        return answer.get();
    }

    Request seen_;
    Response next_{.headers = {{"Content-Type", "application/json"}}, .body = R"({"n": 1})"};
    observe::NullDiagnostics diagnostics_;
    std::unique_ptr<sluice::http::Server> server_ = *sluice::http::Server::open(
        {},
        [this](Request request, const std::shared_ptr<sluice::http::Exchange>& exchange) {
            seen_ = std::move(request);
            exchange->answer(next_);
        },
        diagnostics_);
};

TEST_F(HttpInvoke, AsksAndAnswersAsTheService) {
    auto answer = call(
        R"({"Method": "POST", "RequestBody": {"a": 1}, "QueryParameters": {"q": ["b c", "d"]},
            "Headers": {"X-Key": "mine", "Accept": "text/plain"},
            "Authentication": {"ConnectionArn": "arn:aws:events:eu-west-1:1:connection/crm/77"}})");

    EXPECT_EQ(seen_.target, "/a?x=1&q=b%20c&q=d&who=me");
    EXPECT_EQ(seen_.body, R"({"a":1})");
    EXPECT_EQ(*seen_.headers.find("X-Key"), "k");
    EXPECT_EQ(*seen_.headers.find("Accept"), "text/plain");
    EXPECT_EQ(*seen_.headers.find("Authorization"), "Basic dTpw");
    EXPECT_EQ(*seen_.headers.find("Content-Type"), "application/json");
    EXPECT_EQ(*answer.result.find("ResponseBody"), Value::object({{"n", 1}}));
    EXPECT_EQ(*answer.result.find("StatusCode"), Value{200});
    EXPECT_EQ(*answer.result.find("Headers")->find("content-type"),
              Value::list({"application/json"}));
}

TEST_F(HttpInvoke, SendsForms) {
    call(R"({"Method": "POST", "RequestBody": {"a": "b c", "l": [1, 2]},
             "Transform": {"RequestBodyEncoding": "URL_ENCODED",
                           "RequestEncodingOptions": {"ArrayFormat": "BRACKETS"}}})");

    EXPECT_EQ(seen_.body, "a=b%20c&l%5B%5D=1&l%5B%5D=2");
    EXPECT_EQ(*seen_.headers.find("Content-Type"), "application/x-www-form-urlencoded");
}

TEST_F(HttpInvoke, FailsByTheNamesOfTheService) {
    next_ = {.status = 404, .body = "gone"};
    auto missing = call(R"({"Method": "GET"})");
    EXPECT_EQ(missing.error_kind, "States.Http.StatusCode.404");
    EXPECT_EQ(missing.error_message, "gone");

    EXPECT_THAT(call(R"({"Method": "SHOUT"})").error_message, HasSubstr("Method"));
    EXPECT_EQ(
        call(R"({"Method": "GET", "InvocationConfig": {"ConnectionArn": "other"}})").error_kind,
        "Events.ConnectionResource.NotFound");
}

TEST_F(HttpInvoke, GoesToNoPrivateAddressUnlessItMay) {
    auto answer = call(R"({"Method": "GET"})", false);

    EXPECT_EQ(answer.error_kind, "forbidden_address");
}

} // namespace
} // namespace sluice::connector::http
