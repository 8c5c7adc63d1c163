#include "http/server.h"

#include <future>

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/client.h"
#include "observe/diagnostics.h"

namespace sluice::http {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ServerTest : public ::testing::Test {
protected:
    void serve(Handler handler, ServerLimits limits = {}) {
        server_ = Server::open({.limits = limits}, std::move(handler), diagnostics_).value();
    }

    Call call(Method method, const std::string& target, std::string body = "") {
        auto made = Call{};
        made.url = {.host = "127.0.0.1", .port = server_->port(), .target = target};
        made.request = {.method = method, .body = std::move(body)};
        return made;
    }

    /// What comes back for these bytes until the other side closes.
    std::string raw(const std::string& bytes) {
        auto file = ::socket(AF_INET, SOCK_STREAM, 0);
        auto address = sockaddr_in{.sin_family = AF_INET,
                                   .sin_port = htons(server_->port()),
                                   .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
        EXPECT_EQ(::connect(file, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
        EXPECT_EQ(::send(file, bytes.data(), bytes.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(bytes.size()));
        auto answer = std::string{};
        char space[4096];
        for (auto count = ::read(file, space, sizeof space); count > 0;
             count = ::read(file, space, sizeof space)) {
            answer.append(space, static_cast<std::size_t>(count));
        }
        ::close(file);
        return answer;
    }

    static void echo(Request request, const std::shared_ptr<Exchange>& exchange) {
        exchange->answer({.headers = {{"X-Method", std::string{to_string(request.method)}},
                                      {"X-Target", request.target}},
                          .body = std::move(request.body)});
    }

    observe::NullDiagnostics diagnostics_;
    std::unique_ptr<Server> server_;
    std::unique_ptr<Client> client_ = Client::create();
};

TEST_F(ServerTest, AnswersWhatItIsAsked) {
    serve(echo);
    auto response = client_->request(call(Method::Post, "/a?b", "hello")).value();

    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, "hello");
    EXPECT_EQ(*response.headers.find("x-target"), "/a?b");
    EXPECT_EQ(*response.headers.find("X-METHOD"), "POST");
}

TEST_F(ServerTest, KeepsAConnectionForTheNextRequest) {
    serve(echo);
    for (auto times = 0; times < 10; ++times) {
        ASSERT_TRUE(client_->request(call(Method::Get, "/")));
    }

    EXPECT_EQ(server_->connections(), 1U);
}

TEST_F(ServerTest, TakesLargeBodiesAndBodiesInChunks) {
    serve(echo);
    auto large = std::string(1'000'000, 'x');
    EXPECT_EQ(client_->request(call(Method::Put, "/", large))->body, large);

    EXPECT_THAT(raw("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"
                    "Connection: close\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"),
                EndsWith("\r\n\r\nabcde"));
}

TEST_F(ServerTest, AnswersPipelinedRequestsInTheirOrder) {
    serve(echo);
    auto answer =
        raw("POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nA"
            "GET /2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");

    EXPECT_LT(answer.find("X-Target: /1"), answer.find("X-Target: /2"));
    EXPECT_THAT(answer, HasSubstr("\r\n\r\nAHTTP/1.1 200 OK"));
}

TEST_F(ServerTest, SaysWhatIsWrongWithARequest) {
    serve(echo, {.header_bytes_max = 1'000, .body_bytes_max = 10});

    EXPECT_THAT(raw("nonsense\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
    EXPECT_THAT(raw("GET / HTTP/1.1\r\nA: " + std::string(2'000, 'a') + "\r\n\r\n"),
                StartsWith("HTTP/1.1 431 "));
    EXPECT_THAT(raw("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n"),
                StartsWith("HTTP/1.1 413 "));
    EXPECT_THAT(raw("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                    "b\r\n12345678901\r\n0\r\n\r\n"),
                StartsWith("HTTP/1.1 413 "));
    EXPECT_THAT(
        raw("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
        StartsWith("HTTP/1.1 400 "));
}

TEST_F(ServerTest, HoldsNoMoreThanItsBoundOfLargeBodies) {
    serve(echo, {.bodies_bytes_max = 1'000'000});
    auto large = std::string(1'000'001, 'x');

    EXPECT_EQ(client_->request(call(Method::Put, "/", large))->status, 503);
    large.pop_back();
    EXPECT_EQ(client_->request(call(Method::Put, "/", large))->status, 200);
    EXPECT_EQ(client_->request(call(Method::Put, "/", large))->status, 200);
    EXPECT_THAT(raw("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n100000\r\n" +
                    std::string(0x100000, 'x') + "\r\n0\r\n\r\n"),
                StartsWith("HTTP/1.1 503 "));
}

TEST_F(ServerTest, LetsItsRefusalReachWhoStillSends) {
    serve(echo, {.body_bytes_max = 1'000});

    EXPECT_EQ(client_->request(call(Method::Put, "/", std::string(2'000'000, 'x')))->status, 413);
}

TEST_F(ServerTest, ClosesOnWhoTakesTooLong) {
    serve(echo, {.header_time_max = std::chrono::milliseconds{1}});

    EXPECT_EQ(raw("GET / HTTP/1.1\r\n"), "");
}

TEST_F(ServerTest, LetsAnAnswerComeFromAnotherThread) {
    auto pending = std::promise<std::shared_ptr<Exchange>>{};
    serve([&](Request, std::shared_ptr<Exchange> exchange) {
        pending.set_value(std::move(exchange));
    });
    auto answer = std::promise<Result<Response>>{};
    client_->send(call(Method::Get, "/"),
                  [&](Result<Response> result) { answer.set_value(std::move(result)); });

    pending.get_future().get()->answer({.status = 202});

    EXPECT_EQ(answer.get_future().get()->status, 202);
}

TEST_F(ServerTest, SaysSoWhenNobodyAnswers) {
    serve([](Request, const std::shared_ptr<Exchange>&) {});

    EXPECT_EQ(client_->request(call(Method::Get, "/"))->status, 500);
}

TEST_F(ServerTest, StreamsUntilItIsClosed) {
    auto streams = std::promise<std::shared_ptr<Stream>>{};
    auto closed = std::promise<void>{};
    serve([&](Request, const std::shared_ptr<Exchange>& exchange) {
        streams.set_value(exchange->stream({.headers = {{"Content-Type", "text/event-stream"}}},
                                           [&] { closed.set_value(); }));
    });
    auto made = call(Method::Get, "/");
    auto seen = std::string{};
    made.on_body = [&](std::string_view bytes) { seen += bytes; };
    auto answer = std::promise<Result<Response>>{};
    client_->send(std::move(made),
                  [&](Result<Response> result) { answer.set_value(std::move(result)); });

    auto stream = streams.get_future().get();
    EXPECT_TRUE(stream->offer("one "));
    EXPECT_TRUE(stream->offer("two"));
    stream->close();

    EXPECT_TRUE(answer.get_future().get());
    closed.get_future().get();
    EXPECT_EQ(seen, "one two");
    EXPECT_FALSE(stream->offer("three"));
}

TEST_F(ServerTest, HoldsBackNoMoreForASlowReaderThanItsBound) {
    auto streams = std::promise<std::shared_ptr<Stream>>{};
    serve(
        [&](Request, const std::shared_ptr<Exchange>& exchange) {
            streams.set_value(exchange->stream({}, [] {}));
        },
        {.stream_bytes_max = 100'000});
    auto file = ::socket(AF_INET, SOCK_STREAM, 0);
    auto address = sockaddr_in{.sin_family = AF_INET,
                               .sin_port = htons(server_->port()),
                               .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    ASSERT_EQ(::connect(file, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    auto request = std::string{"GET / HTTP/1.1\r\nHost: a\r\n\r\n"};
    ASSERT_GT(::send(file, request.data(), request.size(), MSG_NOSIGNAL), 0);

    auto stream = streams.get_future().get();
    auto taken = 0;
    while (stream->offer(std::string(10'000, 'x'))) {
        ASSERT_LT(++taken, 10'000); // The sockets between take some megabytes.
    }
    ::close(file);
}

TEST_F(ServerTest, AnswersWhatWasAskedBeforeItStops) {
    auto pending = std::promise<std::shared_ptr<Exchange>>{};
    serve([&](Request, std::shared_ptr<Exchange> exchange) {
        pending.set_value(std::move(exchange));
    });
    auto answer = std::promise<Result<Response>>{};
    client_->send(call(Method::Get, "/"),
                  [&](Result<Response> result) { answer.set_value(std::move(result)); });
    auto exchange = pending.get_future().get();

    auto stopping =
        std::async(std::launch::async, [&] { server_->stop(std::chrono::seconds{60}); });
    exchange->answer({.status = 204});

    EXPECT_EQ(answer.get_future().get()->status, 204);
    stopping.get();
    EXPECT_FALSE(client_->request(call(Method::Get, "/")));
}

TEST_F(ServerTest, DropsAnAnswerThatComesAfterItsEnd) {
    auto pending = std::promise<std::shared_ptr<Exchange>>{};
    serve([&](Request, std::shared_ptr<Exchange> exchange) {
        pending.set_value(std::move(exchange));
    });
    client_->send(call(Method::Get, "/"), [](Result<Response>) {});
    auto exchange = pending.get_future().get();

    server_.reset();

    exchange->answer({});
}

TEST_F(ServerTest, RefusesAnAddressItCannotListenOn) {
    auto options = ServerOptions{.address = "nowhere"};
    auto opened = Server::open(options, echo, diagnostics_);

    ASSERT_FALSE(opened);
    EXPECT_THAT(opened.error().message, HasSubstr("write an IP address"));
}

class ClientTest : public ServerTest {};

TEST_F(ClientTest, GivesUpAtItsTimeout) {
    auto held = std::vector<std::shared_ptr<Exchange>>{};
    serve(
        [&](Request, std::shared_ptr<Exchange> exchange) { held.push_back(std::move(exchange)); });
    auto made = call(Method::Get, "/");
    made.timeout = std::chrono::milliseconds{1};

    EXPECT_EQ(client_->request(std::move(made)).error().code, Errc::LimitExceeded);
    server_.reset();
}

TEST_F(ClientTest, GivesUpWhileANameIsLookedUp) {
    auto held = std::vector<std::shared_ptr<Exchange>>{};
    serve(
        [&](Request, std::shared_ptr<Exchange> exchange) { held.push_back(std::move(exchange)); });
    auto made = call(Method::Get, "/");
    made.url.host = "localhost";
    made.timeout = Nanos{1};

    EXPECT_EQ(client_->request(std::move(made)).error().code, Errc::LimitExceeded);
    server_.reset();
}

TEST_F(ClientTest, CanBeCancelled) {
    auto pending = std::promise<std::shared_ptr<Exchange>>{};
    serve([&](Request, std::shared_ptr<Exchange> exchange) {
        pending.set_value(std::move(exchange));
    });
    auto answer = std::promise<Result<Response>>{};
    auto id = client_->send(call(Method::Get, "/"),
                            [&](Result<Response> result) { answer.set_value(std::move(result)); });
    auto exchange = pending.get_future().get();

    client_->cancel(id);

    EXPECT_EQ(answer.get_future().get().error().message, "the call was cancelled");
}

TEST_F(ServerTest, SaysThatWhoAskedHasGone) {
    auto gone = std::promise<void>{};
    auto held = std::promise<std::shared_ptr<Exchange>>{};
    serve([&](Request, const std::shared_ptr<Exchange>& exchange) {
        exchange->when_gone([&] { gone.set_value(); });
        held.set_value(exchange);
    });
    auto client = Client::create();
    auto id = client->send(call(Method::Get, "/"), [](const Result<Response>&) {});
    auto exchange = held.get_future().get();

    client->cancel(id);

    gone.get_future().get();
}

TEST_F(ServerTest, WhoHasHisAnswerIsNotGone) {
    auto is_gone = std::atomic<bool>{false};
    serve([&](Request, const std::shared_ptr<Exchange>& exchange) {
        exchange->when_gone([&] { is_gone = true; });
        exchange->answer({});
    });
    auto client = Client::create();
    EXPECT_EQ(client->request(call(Method::Get, "/"))->status, 200);
    EXPECT_EQ(client->request(call(Method::Get, "/"))->status, 200);

    client.reset();
    server_->stop(std::chrono::seconds{10});

    EXPECT_FALSE(is_gone);
}

TEST_F(ClientTest, GoesNowhereItMayNotGo) {
    serve(echo);
    auto guarded = Client::create({.may_reach = is_public_address});

    auto refused = guarded->request(call(Method::Get, "/"));

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::InvalidInput);
    EXPECT_THAT(refused.error().message, HasSubstr("where requests may not go"));
    EXPECT_EQ(server_->connections(), 0U);
}

TEST_F(ClientTest, SaysThatNobodyIsThere) {
    serve(echo);
    auto made = call(Method::Get, "/");
    server_.reset();

    EXPECT_EQ(client_->request(std::move(made)).error().code, Errc::Unavailable);
}

TEST_F(ClientTest, TakesNoMoreThanItsBound) {
    serve([](Request, const std::shared_ptr<Exchange>& exchange) {
        exchange->answer({.body = std::string(2'000, 'x')});
    });
    auto bounded = Client::create({.body_bytes_max = 1'000});

    EXPECT_EQ(bounded->request(call(Method::Get, "/")).error().code, Errc::Unsupported);
}

} // namespace
} // namespace sluice::http
