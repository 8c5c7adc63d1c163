#include "connector/amqp/bus.h"

#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "connector/amqp/ceiling.h"
#include "connector/amqp/internal/back_off.h"
#include "connector/amqp/internal/connection.h"
#include "connector/amqp/producer.h"
#include "connector/amqp/source.h"

namespace sluice::connector::amqp {

namespace {

constexpr auto admin_channel = amqp_channel_t{1};
// A broker that has just started may have no leaders yet.
constexpr auto leaders_wait = std::chrono::seconds{20};

/// Does it again while that may help. Each attempt has a connection of its own.
Result<void> with_broker(const Options& options, auto&& work) {
    auto deadline = std::chrono::steady_clock::now() + leaders_wait;
    auto back_off = internal::BackOff{1};
    while (true) {
        auto attempt = [&] -> Result<void> {
            auto connection = TRY(internal::Connection::open(options, "sluice bus"));
            TRY(connection.open_channel(admin_channel));
            TRY(work(connection));
            connection.close();
            return {};
        };
        auto done = attempt();
        if (done || done.error().code != Errc::Unavailable ||
            std::chrono::steady_clock::now() >= deadline) {
            return done;
        }
        std::this_thread::sleep_for(back_off.next());
    }
}

class QueueBus final : public event::Bus {
public:
    QueueBus(const Options& options, observe::Diagnostics& diagnostics)
        : options_(options), diagnostics_(diagnostics) {}

    std::string partition(ShardId shard) const override {
        return fmt::format("{}.{}", options_.prefix, shard.raw());
    }

    Result<void> create(std::uint16_t shards) override {
        return with_broker(options_, [&](internal::Connection& connection) -> Result<void> {
            for (auto shard = std::uint16_t{0}; shard < shards; ++shard) {
                TRY(connection.declare_queue(admin_channel, partition(ShardId{shard}), options_));
                connection.release(admin_channel);
            }
            return {};
        });
    }

    Result<std::unique_ptr<event::Source>> open_source() override {
        return amqp::open_source(options_, diagnostics_);
    }

    Result<std::unique_ptr<event::Producer>> open_producer() override {
        return amqp::open_producer(options_, diagnostics_);
    }

    Result<event::Ceiling> measure(ShardId shard, std::uint64_t events) override {
        return amqp::measure(options_, partition(shard), events);
    }

    Result<void> remove(std::uint16_t shards) override {
        return with_broker(options_, [&](internal::Connection& connection) -> Result<void> {
            for (auto shard = std::uint16_t{0}; shard < shards; ++shard) {
                TRY(connection.delete_queue(admin_channel, partition(ShardId{shard})));
                connection.release(admin_channel);
            }
            return {};
        });
    }

private:
    const Options options_;
    observe::Diagnostics& diagnostics_;
};

} // namespace

Result<std::unique_ptr<event::Bus>> open_bus(const Options& options,
                                             observe::Diagnostics& diagnostics) {
    return std::make_unique<QueueBus>(options, diagnostics);
}

} // namespace sluice::connector::amqp
