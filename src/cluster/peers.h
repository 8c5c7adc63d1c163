#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
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
/// Where one process asks another for tasks of functions of kind `poll`.
inline constexpr auto tasks_path = std::string_view{"/cluster/tasks"};
/// The status of an answer that says: the shard is not here.
inline constexpr auto misdirected_status = 421;

/// Sends inputs to the processes that own their shards, and hands their answers on. A shard that is
/// just moving is waited for. From any thread.
class Peers : public std::enable_shared_from_this<Peers> {
public:
    /// The scheduler outlives its use.
    Peers(const Seal& seal, std::uint16_t shard_count, reactor::Scheduler& timers);

    /// Who owns what, as of now. What was asked of somebody who has lost the shard meanwhile is
    /// asked anew where it may be repeated: he may be cut off, and answer nobody.
    void set_table(store::LeaseTable table);
    /// One that can be carried. Whoever waits for it hears Unavailable when nobody has its shard
    /// for long.
    void send(engine::Input&& input);
    /// The same, for who hears of it otherwise than the input says.
    void send(const engine::Input& input, engine::Done done);
    /// Asks the process at an address for something, sealed; `done` hears what it answered, on the
    /// client's thread. What this gives calls it off.
    std::function<void()> ask(const std::string& address, std::string_view path,
                              std::string_view content, Nanos timeout,
                              std::move_only_function<void(Result<std::string>)> done);
    /// Answers whoever waits that nothing comes any more.
    void stop() { is_stopped_ = true; }

private:
    struct Sending;

    /// An input that has been sent and not answered.
    struct UnderWay {
        std::shared_ptr<Sending> sending;
        std::string address;
        std::optional<http::CallId> call; ///< Known when it has been sent.
    };

    std::string address_of(ShardId shard) const; ///< With the mutex held.
    void attempt(std::shared_ptr<Sending> sending);
    void forget(std::uint64_t number);
    void later(std::shared_ptr<Sending> sending, std::string_view why);
    void hear(const std::shared_ptr<Sending>& sending, Result<http::Response> response);

    Seal seal_;
    std::uint16_t shard_count_;
    reactor::Scheduler& timers_;
    std::atomic<bool> is_stopped_ = false;
    std::mutex mutex_; ///< Of what follows.
    store::LeaseTable table_;
    std::map<std::uint64_t, UnderWay> under_way_;
    std::uint64_t last_ = 0;
    /// Goes first, with its thread, which answers to what stands above.
    std::unique_ptr<http::Client> client_ = http::Client::create();
};

} // namespace sluice::cluster
