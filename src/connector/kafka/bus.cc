#include "connector/kafka/bus.h"

#include "connector/kafka/internal/ceiling.h"
#include "connector/kafka/internal/names.h"
#include "connector/kafka/internal/topic_admin.h"
#include "connector/kafka/producer.h"
#include "connector/kafka/source.h"

namespace sluice::connector::kafka {

namespace {

class Bus final : public event::Bus {
public:
    Bus(const Options& options, observe::Diagnostics& diag) : options_(options), diag_(diag) {}

    std::string partition(ShardId shard) const override {
        return internal::PartitionName{.topic = options_.prefix, .partition = shard.raw()}.text();
    }

    Result<void> create(std::uint16_t shards) override {
        if (shards == 0) {
            return fail(Errc::InvalidInput, "a bus has at least one shard");
        }
        auto admin = TRY(internal::TopicAdmin::open(options_, diag_));
        return admin->create(options_.prefix, shards);
    }

    Result<std::unique_ptr<event::Source>> open_source() override {
        return open_partitions(options_.prefix, options_, diag_);
    }

    Result<std::unique_ptr<event::Producer>> open_producer() override {
        auto options = options_;
        auto is_chosen = options.settings.contains("compression.codec") ||
                         options.settings.contains("compression.type");
        if (!is_chosen && options.version == Version::Current) {
            // Events are alike: packed they are an eighth of what the brokers store and send, and
            // the store too, which keeps them as they came.
            options.settings["compression.codec"] = "zstd";
        }
        return TRY(Producer::open(options, diag_));
    }

    Result<event::Ceiling> measure(ShardId shard, std::uint64_t events) override {
        return internal::measure(options_, shard.raw(), events, diag_);
    }

    Result<void> remove(std::uint16_t /*shards*/) override {
        auto admin = TRY(internal::TopicAdmin::open(options_, diag_));
        return admin->remove(options_.prefix);
    }

private:
    Options options_;
    observe::Diagnostics& diag_;
};

} // namespace

Result<std::unique_ptr<event::Bus>> open_bus(const Options& options, observe::Diagnostics& diag) {
    if (options.consume == Consume::Group) {
        return fail(Errc::InvalidInput, "consume: a bus is read by positions");
    }
    std::ignore = TRY(internal::make_conf(internal::Role::Consumer, options));
    std::ignore = TRY(internal::make_conf(internal::Role::Producer, options));
    return std::make_unique<Bus>(options, diag);
}

} // namespace sluice::connector::kafka
