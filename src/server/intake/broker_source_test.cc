#include "server/intake/broker_source.h"

#include <algorithm>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing/engine_fixture.h"
#include "event/builder.h"
#include "event/message.h"
#include "value/json.h"

namespace sluice::server::intake {
namespace {

using ::testing::HasSubstr;

/// A broker in memory: one partition, whose messages stay.
struct Topic {
    std::mutex mutex;
    std::vector<std::string> messages;
    std::uint64_t confirmed = 0;
    int opened = 0;
    bool is_down = false;

    void put(std::string message) {
        auto lock = std::lock_guard{mutex};
        messages.push_back(std::move(message));
    }
};

class TopicSource final : public event::Source {
public:
    explicit TopicSource(Topic& topic) : topic_(topic) {}

    std::string_view name() const override { return "a topic's source"; }
    Result<std::vector<std::string>> partitions() override {
        return std::vector<std::string>{"topic"};
    }
    Result<void> resume(std::string_view partition, std::uint64_t position) override {
        EXPECT_EQ(partition, "topic");
        next_ = position;
        return {};
    }
    Result<event::Chunk> read(std::size_t /*bytes_max*/, Nanos /*wait*/) override {
        auto lock = std::lock_guard{topic_.mutex};
        if (topic_.is_down) {
            return fail(Errc::Unavailable, "the broker is down");
        }
        auto gathered = event::ChunkBuilder{};
        while (next_ < topic_.messages.size()) {
            const auto& message = topic_.messages[next_++];
            gathered.add(next_, {.content_type = {}, .attributes = {}, .body = message});
        }
        return gathered.take("topic");
    }
    void confirm(std::string_view /*partition*/, std::uint64_t position) override {
        auto lock = std::lock_guard{topic_.mutex};
        topic_.confirmed = position;
    }
    std::optional<std::uint64_t> lag() override {
        auto lock = std::lock_guard{topic_.mutex};
        return topic_.messages.size() - next_;
    }

private:
    Topic& topic_;
    std::uint64_t next_ = 0;
};

class BrokerSourceTest : public engine::testing::EngineFixture {
protected:
    void SetUp() override {
        EngineFixture::SetUp();
        define("pair", R"({"name": "pair", "dedupe": "none", "triggers": [
            {"id": "two", "on": "order.*", "condition": {"count": 2},
             "action": {"finish": {"result": "${event.id}"}}}]})");
        open_sources();
    }
    void TearDown() override {
        sources_.reset();
        engine_->stop();
    }

    void open_sources() {
        sources_.reset();
        documents_ = std::move(*Documents::open(
            store_, {"route", std::string{Sources::kind}, std::string{SourceFeed::state_kind}}));
        router_ = std::move(*EventRouter::open(*engine_, *documents_, {}));
        auto kinds = Sources::Kinds{};
        kinds["broker"] = std::make_unique<BrokerKind>(
            Brokers{.check = [](const Value& form) -> std::string {
                        return form.find("url") == nullptr ? "url: expected the broker's" : "";
                    },
                    .open = [this](std::string_view space,
                                   const Value&) -> Result<std::unique_ptr<event::Source>> {
                        EXPECT_EQ(space, "default");
                        auto lock = std::lock_guard{topic_.mutex};
                        ++topic_.opened;
                        return std::make_unique<TopicSource>(topic_);
                    },
                    .shown = [](const Value& form) { return form.without("password"); }});
        sources_ = std::make_unique<Sources>(*documents_, *router_, clock_, std::move(kinds));
        sources_->start();
    }

    static Value form(std::string_view json) { return value::parse_json(json).value(); }
    void put_event(std::string_view id) {
        topic_.put(std::string{
            event::Builder{id, "shop", "order.paid"}.subject("order-1").build().json()});
    }
    void wait_until(const std::function<bool()>& is_so) {
        while (!is_so()) {
            std::this_thread::yield();
        }
    }
    bool is_confirmed(std::uint64_t number) {
        auto lock = std::lock_guard{topic_.mutex};
        return topic_.confirmed == number;
    }

    Topic topic_;
    std::unique_ptr<Documents> documents_;
    std::unique_ptr<EventRouter> router_;
    std::unique_ptr<Sources> sources_;
};

TEST_F(BrokerSourceTest, TakesEachEventOnceOverRestarts) {
    start("orders", "pair");
    put_event("1");
    ASSERT_FALSE(sources_->put("default", "shop",
                               form(R"({"kind":"broker","url":"x","to":{"run":"orders"}})")));
    wait_until([&] { return is_confirmed(1); });
    open_sources(); // The run has no memory of ids: only the position tells.
    open_sources();
    put_event("2");

    EXPECT_EQ(*wait_end("orders").find("result"), Value{"2"});
}

TEST_F(BrokerSourceTest, KeepsItsPlaceWithAnotherPasswordAndShowsNone) {
    start("orders", "pair");
    put_event("1");
    ASSERT_FALSE(sources_->put(
        "default", "shop",
        form(R"({"kind":"broker","url":"x","password":"old","to":{"run":"orders"}})")));
    wait_until([&] { return is_confirmed(1); });
    ASSERT_FALSE(sources_->put(
        "default", "shop",
        form(R"({"kind":"broker","url":"x","password":"new","to":{"run":"orders"}})")));
    put_event("2");

    EXPECT_EQ(*wait_end("orders").find("result"), Value{"2"});
    EXPECT_EQ(sources_->view("default", "shop")->find("password"), nullptr);
}

TEST_F(BrokerSourceTest, StartsRunsByRoutes) {
    auto route = form(R"({"filter": {"exact": {"type": "order.paid"}},
                          "to": {"run": {"key": "subject"}, "definition": "pair"}})");
    ASSERT_TRUE(router_->put("default", "orders", route));
    put_event("1");
    put_event("2");
    ASSERT_FALSE(sources_->put("default", "shop", form(R"({"kind":"broker","url":"x"})")));

    wait_until([&] { return is_confirmed(2); });
    EXPECT_EQ(*wait_end("order-1").find("result"), Value{"2"});
}

TEST_F(BrokerSourceTest, TellsWhatIsWrong) {
    auto problem = sources_->put("default", "shop", form(R"({"kind":"broker"})"));
    ASSERT_TRUE(problem);
    EXPECT_THAT(problem->detail, HasSubstr("url: expected"));

    {
        auto lock = std::lock_guard{topic_.mutex};
        topic_.is_down = true;
    }
    ASSERT_FALSE(sources_->put("default", "shop", form(R"({"kind":"broker","url":"x"})")));
    wait_until([&] {
        auto view = sources_->view("default", "shop").value();
        const auto* error = view.find("state")->find("error");
        return error->is_string() && error->as_string() == "the broker is down";
    });
}

} // namespace
} // namespace sluice::server::intake
