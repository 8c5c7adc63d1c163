#include "client/client.h"

#include <deque>
#include <future>
#include <mutex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "event/builder.h"
#include "http/server.h"
#include "observe/diagnostics.h"
#include "value/json.h"

namespace sluice::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A server that answers what it was told to, in order, and remembers what it was asked.
class Script {
public:
    using Step = std::function<void(const std::shared_ptr<http::Exchange>&)>;

    void will(Step step) { steps_.push_back(std::move(step)); }
    void will_answer(int status, std::string body = "", http::Headers headers = {}) {
        will([=](const auto& exchange) {
            exchange->answer({.status = status, .headers = headers, .body = body});
        });
    }
    http::Handler handler() {
        return [this](http::Request request, const std::shared_ptr<http::Exchange>& exchange) {
            auto step = Step{};
            {
                auto lock = std::lock_guard{mutex_};
                asked_.push_back(std::move(request));
                if (!steps_.empty()) {
                    step = std::move(steps_.front());
                    steps_.pop_front();
                }
            }
            if (step) {
                step(exchange);
            }
        };
    }
    const http::Request& asked(std::size_t at) const { return asked_.at(at); }
    std::size_t count() const { return asked_.size(); }

private:
    std::mutex mutex_;
    std::deque<Step> steps_;
    std::vector<http::Request> asked_;
};

enum class Way : std::uint8_t { Socket, Local };

class ClientTest : public ::testing::TestWithParam<Way> {
protected:
    void SetUp() override { server_ = http::Server::open({}, script_.handler(), nobody_).value(); }

    Client connect(ClientOptions options = {}) {
        options.pause = [this](Nanos pause) { pauses_.push_back(pause); };
        if (GetParam() == Way::Local) {
            return {make_local_transport(script_.handler(), "here"), std::move(options)};
        }
        auto url = fmt::format("http://127.0.0.1:{}", server_->port());
        return Client::connect({.server = url}, std::move(options)).value();
    }

    observe::NullDiagnostics nobody_;
    Script script_;
    std::unique_ptr<http::Server> server_;
    std::vector<Nanos> pauses_;
};

INSTANTIATE_TEST_SUITE_P(Transports, ClientTest, ::testing::Values(Way::Socket, Way::Local),
                         [](const auto& each) {
                             return each.param == Way::Socket ? "Socket" : "Local";
                         });

TEST_P(ClientTest, AsksWithTokenNamespaceAndWhatThePathNeedsEscaped) {
    auto client = connect({.token = "slc_1", .space = "team a"});
    script_.will_answer(200, R"({"run":"a/b"})");

    auto run = client.run("a/b");

    EXPECT_EQ(run->find("run")->as_string(), "a/b");
    EXPECT_EQ(script_.asked(0).target, "/v1/runs/a%2Fb?namespace=team%20a");
    EXPECT_EQ(*script_.asked(0).headers.find("Authorization"), "Bearer slc_1");
}

TEST_P(ClientTest, KeepsWhatTheServerSaidWhenItRefused) {
    auto client = connect();
    script_.will_answer(422,
                        R"({"code":"invalid_definition","detail":"see findings","findings":[1]})");
    script_.will_answer(404, "<html>");

    auto problem = client.deploy("name: x").error();
    auto missing = client.run("x").error();

    EXPECT_EQ(problem.name, "invalid_definition");
    EXPECT_EQ(problem.message, "see findings");
    EXPECT_EQ(problem.code, Errc::InvalidInput);
    EXPECT_EQ(problem.document.find("findings")->size(), 1U);
    EXPECT_EQ(missing.code, Errc::NotFound);
    EXPECT_THAT(missing.message, HasSubstr("404"));
}

TEST_P(ClientTest, ComesBackLaterWhereThatIsSafe) {
    auto client = connect();
    script_.will_answer(503, "", {{"Retry-After", "2"}});
    script_.will_answer(429);
    script_.will_answer(201, R"({"run":"r"})");
    script_.will_answer(503);

    EXPECT_TRUE(client.start({.id = "r", .definition = "d"}));
    EXPECT_FALSE(client.command("r", "retry"));

    EXPECT_EQ(script_.count(), 4U);
    ASSERT_EQ(pauses_.size(), 2U);
    EXPECT_EQ(pauses_[0], std::chrono::seconds{2});
    EXPECT_LE(pauses_[1], std::chrono::milliseconds{200});
}

TEST_P(ClientTest, GivesUpWhenItIsToldToWaitTooLongOrTooOften) {
    auto client = connect({.retry = {.attempts_max = 2}});
    script_.will_answer(503, "", {{"Retry-After", "3600"}});
    script_.will_answer(503);
    script_.will_answer(503, R"({"detail":"still not"})");

    EXPECT_FALSE(client.run("r"));
    EXPECT_EQ(client.run("r").error().message, "still not");

    EXPECT_EQ(pauses_.size(), 1U);
}

TEST_P(ClientTest, ListsPageAfterPage) {
    auto client = connect();
    script_.will_answer(200, R"({"runs":[1,2],"cursor":"c 1"})");
    script_.will_answer(200, R"({"runs":[],"cursor":"c2"})");
    script_.will_answer(200, R"({"runs":[3],"cursor":null})");

    auto seen = std::vector<std::int64_t>{};
    auto listing = client.runs({.status = "failed", .page = 2});
    for (const auto& run : listing) {
        seen.push_back(run.as_int());
    }

    EXPECT_THAT(seen, ElementsAre(1, 2, 3));
    EXPECT_FALSE(listing.problem());
    EXPECT_EQ(script_.asked(0).target, "/v1/runs?limit=2&status=failed");
    EXPECT_EQ(script_.asked(1).target, "/v1/runs?limit=2&status=failed&cursor=c%201");
}

TEST_P(ClientTest, SaysWhenAPageCouldNotBeHad) {
    auto client = connect();
    script_.will_answer(200, R"({"runs":[1],"cursor":"c"})");
    script_.will_answer(400, R"({"detail":"bad cursor"})");

    auto listing = client.runs({});
    auto count = std::ranges::distance(listing.begin(), Listing::end());

    EXPECT_EQ(count, 1);
    EXPECT_EQ(listing.problem()->message, "bad cursor");
}

TEST_P(ClientTest, WaitsInStepsUntilARunHasEnded) {
    auto client = connect();
    script_.will_answer(202, R"({"status":"running"})");
    script_.will_answer(200, R"({"status":"succeeded","result":1})");
    script_.will_answer(202, R"({"status":"running"})");

    auto ended = client.start_and_wait({.id = "r", .definition = "d"}, std::chrono::minutes{1});
    auto running = client.start_and_wait({.id = "r", .definition = "d"}, std::chrono::seconds{2});

    EXPECT_EQ(ended->find("status")->as_string(), "succeeded");
    EXPECT_EQ(running->find("status")->as_string(), "running");
    EXPECT_EQ(script_.asked(1).target, "/v1/runs?wait=30s");
    EXPECT_EQ(script_.asked(2).target, "/v1/runs?wait=2s");
}

TEST_P(ClientTest, SendsEventsInBatchesThatFit) {
    auto client = connect();
    auto events = std::vector<Event>{};
    for (auto at = 0; at < 1'001; ++at) {
        events.push_back(event::Builder(fmt::format("{}", at), "/test", "item").build());
    }
    script_.will_answer(202);
    script_.will_answer(200, R"({"hello":1})", {{"Content-Type", "application/json"}});

    auto reply = client.send(events, "r");

    EXPECT_EQ(value::to_json(*reply), R"({"hello":1})");
    EXPECT_EQ(script_.asked(0).target, "/v1/runs/r/events");
    EXPECT_EQ(*script_.asked(0).headers.find("Content-Type"), "application/cloudevents-batch+json");
    EXPECT_EQ(*script_.asked(1).headers.find("Content-Type"), "application/cloudevents+json");
}

void tell(const std::shared_ptr<http::Exchange>& exchange, std::string text) {
    auto stream = exchange->stream({.headers = {{"Content-Type", "text/event-stream"}}}, nullptr);
    stream->offer(std::move(text));
    stream->close();
}

TEST_P(ClientTest, GoesOnBehindTheLastEventWhenAStreamBreaksOff) {
    auto client = connect();
    script_.will([](const auto& exchange) { tell(exchange, "id: 4\ndata: a\n\n"); });
    script_.will_answer(503);
    script_.will([](const auto& exchange) { tell(exchange, "id: 5\ndata: b\n\ndata: c\n\n"); });

    auto seen = std::vector<std::string>{};
    auto followed = client.follow("/v1/live", [&](const ServerSentEvent& event) {
        seen.push_back(event.data);
        return event.data != "b";
    });

    EXPECT_TRUE(followed);
    EXPECT_THAT(seen, ElementsAre("a", "b"));
    EXPECT_EQ(script_.asked(0).headers.find("Last-Event-ID"), nullptr);
    EXPECT_EQ(*script_.asked(2).headers.find("Last-Event-ID"), "4");
}

TEST_P(ClientTest, SaysWhyAStreamCannotBeHad) {
    auto client = connect();
    script_.will_answer(404, R"({"code":"not_found","detail":"there is no run \"x\""})");

    auto followed = client.follow("/v1/runs/x/live", [](const auto&) { return true; });

    EXPECT_EQ(followed.error().message, "there is no run \"x\"");
}

TEST_P(ClientTest, LeavesAStreamThatGoesOnForEver) {
    auto left = std::promise<void>{};
    auto kept = std::shared_ptr<http::Stream>{};
    auto client = connect();
    script_.will([&](const auto& exchange) {
        kept = exchange->stream({}, [&] { left.set_value(); });
        kept->offer("data: a\n\n");
    });

    EXPECT_TRUE(client.follow("/v1/live", [](const auto&) { return false; }));

    // The server of a socket notices with its next word.
    while (GetParam() == Way::Socket && kept->offer(std::string(10'000, ' '))) {
    }
    left.get_future().get();
}

TEST(SocketTransport, SaysWhatIsWrongWithAServersAddress) {
    EXPECT_THAT(Client::connect({.server = "localhost"}).error().message,
                HasSubstr("http://127.0.0.1:8080"));
    EXPECT_FALSE(Client::connect({.server = "http://a/path"}));
    EXPECT_EQ(Client::connect({.server = "https://a", .ca_file = "/none"}).error().code,
              Errc::NotFound);
}

TEST(SocketTransport, SaysWhereNobodyAnswers) {
    auto nobody = observe::NullDiagnostics{};
    auto server = http::Server::open({}, [](auto, auto) {}, nobody).value();
    auto url = fmt::format("http://127.0.0.1:{}", server->port());
    server.reset();
    auto pauses = 0;
    auto client = Client::connect({.server = url}, {.pause = [&](Nanos) { ++pauses; }}).value();

    auto problem = client.command("r", "cancel").error();

    EXPECT_EQ(problem.code, Errc::Unavailable);
    EXPECT_EQ(problem.status, 0);
    EXPECT_THAT(problem.message, HasSubstr(url));
    EXPECT_EQ(pauses, 3); // Nothing was sent: even what is not safe to repeat is tried again.
}

TEST(LocalTransport, SaysSoWhenNobodyAnswers) {
    auto transport = make_local_transport([](auto, auto) {}, "here");

    EXPECT_EQ(transport->request({}, std::chrono::seconds{30})->status, 500);
}

} // namespace
} // namespace sluice::client
