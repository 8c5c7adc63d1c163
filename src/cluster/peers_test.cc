#include "cluster/peers.h"

#include <future>

#include <gtest/gtest.h>

#include "cluster/carried_input.h"
#include "http/server.h"
#include "observe/diagnostics.h"
#include "reactor/timer_thread.h"

namespace sluice::cluster {
namespace {

constexpr auto wait_max = std::chrono::seconds{20};

/// A process that owns the only shard, or did.
class Owner {
public:
    explicit Owner(bool answers) : answers_(answers) {
        server_ = http::Server::open(
                      {},
                      [this](http::Request /*request*/, std::shared_ptr<http::Exchange> exchange) {
                          take(std::move(exchange));
                      },
                      diagnostics_)
                      .value();
    }

    ~Owner() { server_->stop(Nanos{0}); }

    std::string address() const { return "127.0.0.1:" + std::to_string(server_->port()); }
    void wait_until_asked() { asked_.get_future().wait_for(wait_max); }

private:
    void take(std::shared_ptr<http::Exchange> exchange) {
        if (answers_) {
            exchange->answer({.body = encode_answer(Value{"taken"})});
        } else {
            held_ = std::move(exchange);
        }
        asked_.set_value();
    }

    bool answers_;
    observe::NullDiagnostics diagnostics_;
    std::promise<void> asked_;
    std::shared_ptr<http::Exchange> held_;
    std::unique_ptr<http::Server> server_;
};

class PeersTest : public ::testing::Test {
protected:
    void set_owner(const Owner& owner) {
        peers_->set_table(
            {.members = {{.id = "worker-1", .address = owner.address()}}, .owners = {"worker-1"}});
    }

    template <typename Input>
    std::future<Result<Value>> send(Input input) {
        auto answer = std::make_shared<std::promise<Result<Value>>>();
        input.run = {.id = "r"};
        input.done = [answer](Result<Value> result) { answer->set_value(std::move(result)); };
        peers_->send(std::move(input));
        return answer->get_future();
    }

    reactor::TimerThread timers_;
    Owner silent_{false};
    Owner next_{true};
    std::shared_ptr<Peers> peers_ = std::make_shared<Peers>(Seal{engine::Secret{}}, 1, timers_);
};

TEST_F(PeersTest, AsksTheNextOwnerWhereTheFormerIsSilent) {
    set_owner(silent_);
    auto answer = send(engine::WatchInput{});
    silent_.wait_until_asked();

    set_owner(next_);

    ASSERT_EQ(answer.wait_for(wait_max), std::future_status::ready);
    EXPECT_EQ(answer.get().value(), Value{"taken"});
}

TEST_F(PeersTest, SaysThatTheOutcomeIsUnknownOfWhatMayNotBeRepeated) {
    set_owner(silent_);
    auto answer = send(engine::CommandInput{.type = "sluice.run.pause"});
    silent_.wait_until_asked();

    set_owner(next_);

    ASSERT_EQ(answer.wait_for(wait_max), std::future_status::ready);
    EXPECT_EQ(answer.get().error().code, Errc::Io);
}

} // namespace
} // namespace sluice::cluster
