#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "cluster/seal.h"
#include "engine/input.h"
#include "http/client.h"
#include "reactor/scheduler.h"
#include "store/leases.h"

namespace sluice::cluster {

/// Where an input goes that another process decides, and where its answer comes from.
inline constexpr auto input_path = std::string_view{"/cluster/inputs"};
/// The status of an answer that says: the shard is not here.
inline constexpr auto misdirected_status = 421;

/// Sends inputs to the processes that own their shards, and hands their answers on. A shard that is
/// just moving is waited for. From any thread.
class Peers : public std::enable_shared_from_this<Peers> {
public:
    /// The scheduler outlives its use.
    Peers(const Seal& seal, std::uint16_t shard_count, reactor::Scheduler& timers);

    /// Who owns what, as of now.
    void set_table(store::LeaseTable table);
    /// One that can be carried. Whoever waits for it hears Unavailable when nobody has its shard
    /// for long.
    void send(engine::Input&& input);
    /// Answers whoever waits that nothing comes any more.
    void stop() { is_stopped_ = true; }

private:
    struct Sending;

    std::string address_of(ShardId shard) const;
    void attempt(std::shared_ptr<Sending> sending);
    void later(std::shared_ptr<Sending> sending, std::string_view why);
    void hear(const std::shared_ptr<Sending>& sending, Result<http::Response> response);

    Seal seal_;
    std::uint16_t shard_count_;
    reactor::Scheduler& timers_;
    std::unique_ptr<http::Client> client_ = http::Client::create();
    std::atomic<bool> is_stopped_ = false;
    mutable std::mutex mutex_;
    store::LeaseTable table_;
};

} // namespace sluice::cluster
