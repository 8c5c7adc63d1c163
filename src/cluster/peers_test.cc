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
    /// One that loses its shard has it again when it is asked once more.
    enum class Manner : std::uint8_t { Silent, Answers, LosesIt };

    explicit Owner(Manner manner) : manner_(manner) {
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
        if (manner_ == Manner::Answers || was_asked_) {
            exchange->answer({.body = encode_answer(Value{"taken"})});
        } else if (manner_ == Manner::LosesIt) {
            exchange->answer({.body = encode_answer(fail(Errc::Unavailable, "it is elsewhere"))});
        } else {
            held_ = std::move(exchange);
        }
        if (!std::exchange(was_asked_, true)) {
            asked_.set_value();
        }
    }

    const Manner manner_;
    bool was_asked_ = false;
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
    Owner silent_{Owner::Manner::Silent};
    Owner losing_{Owner::Manner::LosesIt};
    Owner next_{Owner::Manner::Answers};
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

TEST_F(PeersTest, AsksAgainWhatWasRefusedBecauseTheShardHadMoved) {
    set_owner(losing_);

    auto answer = send(engine::CommandInput{.type = "sluice.run.pause"});

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
