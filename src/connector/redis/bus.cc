#include "connector/redis/bus.h"

#include <string>

#include "connector/redis/ceiling.h"
#include "connector/redis/producer.h"
#include "connector/redis/source.h"
#include "resp/client.h"

namespace sluice::connector::redis {
namespace {

class StreamBus final : public event::Bus {
public:
    StreamBus(Options options, observe::Diagnostics& diagnostics)
        : options_(std::move(options)), diagnostics_(diagnostics) {}

    std::string partition(ShardId shard) const override {
        return fmt::format("{}:events:{}", options_.prefix, shard.raw());
    }
    Result<void> create(std::uint16_t shards) override;
    Result<std::unique_ptr<event::Source>> open_source() override {
        return redis::open_source(options_, diagnostics_);
    }
    Result<std::unique_ptr<event::Producer>> open_producer() override {
        return redis::open_producer(options_, diagnostics_);
    }
    Result<event::Ceiling> measure(ShardId shard, std::uint64_t events) override {
        return measure_ceiling(options_, partition(shard), events);
    }
    Result<void> remove(std::uint16_t shards) override;

private:
    std::string meta() const { return options_.prefix + ":bus"; }
    const std::string& group() const { return options_.group; }

    Options options_;
    observe::Diagnostics& diagnostics_;
};

Result<void> StreamBus::create(std::uint16_t shards) {
    auto client = TRY(resp::Client::connect(options_.server));
    std::ignore = TRY(client.call("HSETNX", meta(), "shards", shards));
    auto found = TRY(client.call("HGET", meta(), "shards"));
    if (found.text() != std::to_string(shards)) {
        return fail(Errc::Conflict,
                    "the bus {} has {} partitions, not {}: use another prefix, or as many shards",
                    options_.prefix, found.text(), shards);
    }
    for (auto shard = std::uint16_t{0}; shard < shards; ++shard) {
        client.commands().add("XGROUP", "CREATE", partition(ShardId{shard}), group(), "0",
                              "MKSTREAM");
    }
    TRY(client.send());
    for (auto shard = std::uint16_t{0}; shard < shards; ++shard) {
        auto made = TRY(client.receive());
        if (made.is_error() && resp::error_word(made.text()) != "BUSYGROUP") {
            auto error = resp::error_of(made);
            return fail(error.code, "{}: {}", partition(ShardId{shard}), error.message);
        }
    }
    return {};
}

Result<void> StreamBus::remove(std::uint16_t shards) {
    auto client = TRY(resp::Client::connect(options_.server));
    for (auto shard = std::uint16_t{0}; shard < shards; ++shard) {
        client.commands().add("UNLINK", partition(ShardId{shard}));
    }
    client.commands().add("UNLINK", meta());
    TRY(client.send());
    while (client.owed() > 0) {
        std::ignore = TRY(resp::checked(TRY(client.receive())));
    }
    return {};
}

} // namespace

Result<std::unique_ptr<event::Bus>> open_bus(const Options& options,
                                             observe::Diagnostics& diagnostics) {
    auto chosen = options;
    // A shard's position says where to go on; a bus that never forgets fills the server's memory.
    chosen.reading = Reading::Position;
    chosen.start = Start::First;
    chosen.trim = options.trim.value_or(Trim::Confirmed);
    if (chosen.group.empty()) {
        chosen.group = "sluice";
    }
    return std::make_unique<StreamBus>(std::move(chosen), diagnostics);
}

} // namespace sluice::connector::redis
