#include "server/gateway.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/memory/memory_store.h"

namespace sluice::server {
namespace {

using ::testing::HasSubstr;

/// Keeps what it is answered.
class KeptReply final : public http::Exchange {
public:
    void answer(http::Response given) override { response = std::move(given); }
    std::shared_ptr<http::Stream> stream(http::Response, std::function<void()>) override {
        return nullptr;
    }

    http::Response response{.status = 0};
};

class GatewayTest : public ::testing::Test {
protected:
    void open(GatewayOptions options) {
        auto routes = RouteTable{};
        auto say = [](Incoming incoming, const Reply& reply) {
            reply->answer({.body = incoming.caller.name + "@" + incoming.space});
        };
        routes.add({http::Method::Get, "/health", {Role::Anyone, false}, say});
        routes.add({http::Method::Get,
                    "/v1/runs/{run}",
                    {Role::Reader, true},
                    [](Incoming incoming, const Reply& reply) {
                        reply->answer({.body = incoming.part("run")});
                    }});
        routes.add({http::Method::Post, "/v1/runs", {Role::Operator, true}, say});
        routes.add({http::Method::Post, "/v1/tokens", {Role::Admin, false}, say});
        gateway_ =
            std::make_unique<Gateway>(std::move(routes), tokens_, metrics_, std::move(options));
    }

    http::Response ask(http::Method method, const std::string& target,
                       const std::string& token = "", http::Headers headers = {}) {
        if (headers.find("Host") == nullptr) {
            headers.add("Host", "127.0.0.1:8080");
        }
        if (!token.empty()) {
            headers.add("Authorization", "Bearer " + token);
        }
        auto reply = std::make_shared<KeptReply>();
        gateway_->handle({.method = method, .target = target, .headers = std::move(headers)},
                         reply);
        return reply->response;
    }

    SystemClock clock_;
    TokenTable tokens_{clock_};
    observe::Metrics metrics_;
    std::unique_ptr<Gateway> gateway_;
};

TEST_F(GatewayTest, FindsTheRouteAndItsParts) {
    open({});
    EXPECT_EQ(ask(http::Method::Get, "/v1/runs/a%2Fb").body, "a/b");
    EXPECT_EQ(ask(http::Method::Head, "/v1/runs/x").status, 200);
    EXPECT_EQ(ask(http::Method::Get, "/none").status, 404);
    EXPECT_EQ(ask(http::Method::Get, "/v1/runs/a/b").status, 404);
    auto wrong = ask(http::Method::Delete, "/v1/runs");
    EXPECT_EQ(wrong.status, 405);
    EXPECT_EQ(*wrong.headers.find("Allow"), "POST");
    EXPECT_EQ(ask(http::Method::Get, "/%zz").status, 400);
}

TEST_F(GatewayTest, AsksForATokenOnceItIsNotOpen) {
    open({.is_open = false});
    auto token = tokens_.add({.name = "ci", .role = Role::Operator});

    EXPECT_EQ(ask(http::Method::Get, "/health").status, 200);
    auto refused = ask(http::Method::Post, "/v1/runs");
    EXPECT_EQ(refused.status, 401);
    EXPECT_EQ(*refused.headers.find("WWW-Authenticate"), "Bearer");
    EXPECT_EQ(ask(http::Method::Post, "/v1/runs", "slc_wrong").status, 401);
    EXPECT_EQ(ask(http::Method::Post, "/v1/runs", token).body, "ci@default");
}

TEST_F(GatewayTest, HoldsCallersToTheirRoleAndNamespace) {
    open({.is_open = false});
    auto reader = tokens_.add({.name = "eyes", .role = Role::Reader});
    auto tenant = tokens_.add({.name = "team", .role = Role::Admin, .space = "team"});

    EXPECT_EQ(ask(http::Method::Get, "/v1/runs/x", reader).status, 200);
    auto refused = ask(http::Method::Post, "/v1/runs", reader);
    EXPECT_EQ(refused.status, 403);
    EXPECT_THAT(refused.body, HasSubstr("needs the role operator"));
    EXPECT_EQ(ask(http::Method::Post, "/v1/runs", tenant).body, "team@team");
    EXPECT_EQ(ask(http::Method::Post, "/v1/runs?namespace=other", tenant).status, 403);
    EXPECT_EQ(ask(http::Method::Post, "/v1/tokens", tenant).status, 403);
}

TEST_F(GatewayTest, TakesNoPageOfAnotherNameForItsOwn) {
    open({.hosts = {"sluice.example"}});

    EXPECT_EQ(ask(http::Method::Get, "/health", "", {{"Host", "evil.example"}}).status, 421);
    EXPECT_EQ(ask(http::Method::Get, "/health", "", {{"Host", "SLUICE.example:1"}}).status, 200);
    EXPECT_EQ(ask(http::Method::Get, "/health", "", {{"Host", "[::1]:80"}}).status, 200);
    EXPECT_EQ(ask(http::Method::Get, "/health", "", {{"Host", "localhost"}}).status, 200);
}

TEST_F(GatewayTest, LetsListedOriginsInAndNoOthers) {
    open({.origins = {"https://a.example"}});

    auto known = ask(http::Method::Get, "/health", "", {{"Origin", "https://a.example"}});
    EXPECT_EQ(*known.headers.find("Access-Control-Allow-Origin"), "https://a.example");
    auto foreign = ask(http::Method::Get, "/health", "", {{"Origin", "https://b.example"}});
    EXPECT_EQ(foreign.headers.find("Access-Control-Allow-Origin"), nullptr);
    auto asked = ask(http::Method::Options, "/v1/runs", "",
                     {{"Origin", "https://a.example"}, {"Access-Control-Request-Method", "POST"}});
    EXPECT_EQ(asked.status, 204);
}

TEST_F(GatewayTest, LivesAndIsNotReadyWhileItStarts) {
    auto ask_early = [](const std::string& target) {
        auto reply = std::make_shared<KeptReply>();
        answer_while_starting({.target = target}, reply, "1");
        return reply->response.status;
    };

    EXPECT_EQ(ask_early("/healthz"), 200);
    EXPECT_EQ(ask_early("/readyz"), 503);
    EXPECT_EQ(ask_early("/v1/runs"), 503);
}

TEST_F(GatewayTest, TakesNoNamespaceThatAKeyCannotHold) {
    open({});
    EXPECT_EQ(ask(http::Method::Post, "/v1/runs?namespace=team").body, "local@team");
    for (const auto& space : {std::string(201, 'a'), std::string{}, std::string{"a%00"},
                              std::string{"a%2Fb"}, std::string{"a%20b"}}) {
        EXPECT_EQ(ask(http::Method::Post, "/v1/runs?namespace=" + space).status, 400) << space;
    }
}

TEST_F(GatewayTest, TakesNoFormOfAForeignPage) {
    open({.origins = {"https://a.example"}});
    auto post = [&](const std::string& origin) {
        return ask(http::Method::Post, "/v1/runs", "", {{"Origin", origin}}).status;
    };

    EXPECT_EQ(post("https://evil.example"), 403);
    EXPECT_EQ(post("null"), 403);
    EXPECT_EQ(post("https://a.example"), 200);
    EXPECT_EQ(post("http://127.0.0.1:8080"), 200);
}

TEST_F(GatewayTest, IsOpenUntilThereIsAToken) {
    open({});
    EXPECT_EQ(ask(http::Method::Post, "/v1/tokens").body, "local@default");

    auto root = tokens_.add({.name = "root", .role = Role::Admin});

    EXPECT_EQ(ask(http::Method::Post, "/v1/tokens").status, 401);
    EXPECT_EQ(ask(http::Method::Post, "/v1/tokens", root).status, 200);
}

TEST_F(GatewayTest, SaysThatATokenIsOver) {
    open({});
    auto old = tokens_.add({.name = "old", .role = Role::Admin, .expires = clock_.wall()});

    auto refused = ask(http::Method::Post, "/v1/runs", old);

    EXPECT_EQ(refused.status, 401);
    EXPECT_THAT(refused.body, HasSubstr("token_expired"));
}

TEST_F(GatewayTest, TakesNamesThatAreSetLater) {
    open({});
    EXPECT_EQ(ask(http::Method::Get, "/health", "", {{"Host", "new.example"}}).status, 421);

    gateway_->set_names({"new.example"}, {});

    EXPECT_EQ(ask(http::Method::Get, "/health", "", {{"Host", "new.example"}}).status, 200);
}

TEST(TokenTableTest, ReplacesWhatWasConfigured) {
    auto clock = SystemClock{};
    auto tokens = TokenTable{clock};
    auto made = tokens.add({.name = "made"});
    tokens.set_configured({{TokenTable::hash_of("one"), {.name = "one"}}});
    EXPECT_TRUE(tokens.find("one"));
    EXPECT_FALSE(tokens.remove("one"));

    tokens.set_configured({{TokenTable::hash_of("two"), {.name = "two"}}});

    EXPECT_EQ(tokens.find("one").error(), TokenFault::Unknown);
    EXPECT_TRUE(tokens.find("two"));
    EXPECT_TRUE(tokens.find(made));
}

/// Stands still.
class StoppedClock final : public Clock {
public:
    Time wall() const override { return Time{steady()}; }
    Nanos steady() const override { return std::chrono::seconds{9}; }
};

TEST_F(GatewayTest, HoldsEachCallerToItsRate) {
    auto clock = StoppedClock{};
    open({.requests = {.per_second = 0.5, .burst = 2}, .clock = &clock});
    auto token = tokens_.add({.name = "ci", .role = Role::Operator});

    EXPECT_EQ(ask(http::Method::Get, "/health").status, 200);
    EXPECT_EQ(ask(http::Method::Get, "/health", "slc_wrong").status, 401);
    auto refused = ask(http::Method::Get, "/health");
    EXPECT_EQ(refused.status, 429);
    EXPECT_EQ(*refused.headers.find("Retry-After"), "2");
    EXPECT_THAT(refused.body, HasSubstr("too_many_requests"));
    EXPECT_EQ(ask(http::Method::Get, "/health", token).status, 200);
}

TEST_F(GatewayTest, KnowsWhichNamespacesThereAre) {
    auto store = store::memory::MemoryStore{};
    auto documents = std::move(Documents::open(store, {"namespace"})).value();
    auto namespaces = Namespaces{*documents};
    ASSERT_TRUE(namespaces.put("team", Value{}));
    open({.namespaces = &namespaces});

    EXPECT_EQ(ask(http::Method::Post, "/v1/runs").body, "local@default");
    EXPECT_EQ(ask(http::Method::Post, "/v1/runs?namespace=team").body, "local@team");
    EXPECT_EQ(ask(http::Method::Post, "/v1/tokens?namespace=none").status, 200);
    auto refused = ask(http::Method::Post, "/v1/runs?namespace=none");
    EXPECT_EQ(refused.status, 404);
    EXPECT_THAT(refused.body, HasSubstr("PUT /v1/namespaces/none"));
}

TEST(TokenTableTest, ForgetsWhatWasRevoked) {
    auto clock = SystemClock{};
    auto tokens = TokenTable{clock};
    auto secret = tokens.add({.name = "a", .role = Role::Reader});
    EXPECT_TRUE(tokens.find(secret));
    EXPECT_EQ(tokens.list().size(), 1U);

    EXPECT_TRUE(tokens.remove("a"));

    EXPECT_FALSE(tokens.find(secret));
    EXPECT_FALSE(tokens.remove("a"));
}

} // namespace
} // namespace sluice::server
