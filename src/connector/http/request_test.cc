#include "connector/http/request.h"

#include <gtest/gtest.h>

namespace sluice::connector::http {
namespace {

event::Delivery delivery() {
    auto made = event::Delivery{};
    made.key = "team/r/7/0";
    made.token = "t0ken";
    made.target = "resize";
    made.attempt = 2;
    made.payload = Value::object({{"width", 10}});
    made.space = "team";
    made.run = "r";
    return made;
}

TEST(HttpRequest, IsACloudEventInBinaryMode) {
    auto request = request_of({}, delivery(), "https://sluice.example");

    auto field = [&](std::string_view name) {
        const auto* found = request.headers.find(name);
        return found == nullptr ? std::string{"none"} : *found;
    };
    EXPECT_EQ(request.method, sluice::http::Method::Post);
    EXPECT_EQ(request.body, R"({"width":10})");
    EXPECT_EQ(field("Content-Type"), "application/json");
    EXPECT_EQ(field("ce-specversion"), "1.0");
    EXPECT_EQ(field("ce-id"), "team/r/7/0");
    EXPECT_EQ(field("ce-source"), "/namespaces/team/runs/r");
    EXPECT_EQ(field("ce-type"), "sluice.task.called");
    EXPECT_EQ(field("ce-subject"), "resize");
    EXPECT_EQ(field("Idempotency-Key"), "team/r/7/0");
    EXPECT_EQ(field("Sluice-Attempt"), "2");
    EXPECT_EQ(field("Sluice-Token"), "t0ken");
    EXPECT_EQ(field("Sluice-Callback"), "https://sluice.example/v1/tasks/t0ken");
    EXPECT_EQ(field("traceparent"), "none");
}

TEST(HttpRequest, IsPlainJsonWhereThatIsAsked) {
    auto call = delivery();
    call.trace = "00-ab-cd-01";

    auto request = request_of(
        {.headers = {{"X-Team", "red"}, {"sluice-token", "mine"}}, .format = Format::Json}, call,
        "");

    EXPECT_EQ(request.body, R"({"width":10})");
    EXPECT_EQ(request.headers.find("ce-id"), nullptr);
    EXPECT_EQ(request.headers.find("Sluice-Callback"), nullptr);
    EXPECT_EQ(*request.headers.find("X-Team"), "red");
    EXPECT_EQ(*request.headers.find("Sluice-Token"), "t0ken");
    EXPECT_EQ(*request.headers.find("traceparent"), "00-ab-cd-01");
}

TEST(HttpRequest, NamesCannotBreakOutOfTheirField) {
    EXPECT_EQ(field_text("a/b-1"), "a/b-1");
    EXPECT_EQ(field_text("a b\r\nX: 1%ä"), "a%20b%0D%0AX:%201%25%C3%A4");
}

} // namespace
} // namespace sluice::connector::http
