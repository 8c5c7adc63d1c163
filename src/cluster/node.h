#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "cluster/bus_feed.h"
#include "cluster/ordered_sender.h"
#include "cluster/peers.h"
#include "cluster/seal.h"
#include "cluster/task_desk.h"
#include "engine/engine.h"
#include "event/bus.h"
#include "observe/diagnostics.h"
#include "reactor/timer_thread.h"
#include "reactor/worker_pool.h"
#include "store/leases.h"

namespace sluice::cluster {

enum class Role : std::uint8_t {
    Worker,  ///< Owns shards.
    Gateway, ///< Routes to those that do.
};

struct NodeOptions {
    Role role = Role::Worker;
    std::string address;                    ///< Where the others reach it: `host:port`.
    Nanos lease = std::chrono::seconds{6};  ///< So long a silent worker keeps its shards.
    std::function<void(const Error&)> stop; ///< It is of no use any more: the process should end.
};

/// How a node is just now, for people.
struct NodeState {
    std::string id;
    std::size_t members = 0;
    std::size_t owned = 0;
    std::size_t unowned = 0; ///< Shards that nobody has.
    std::uint64_t lag = 0;   ///< Events that wait on the bus for its shards.
};

/// One process of a system that several make up: it takes its share of the shards, reads their
/// partitions of the bus, and sends what is for other shards to whoever has them.
///
/// Made before the engine, which is given its `sharing`; started when the engine is open; stopped
/// before the engine.
class Node {
public:
    /// Makes the bus's partitions where they are missing. Fails with Unsupported when the store
    /// cannot be shared. All that it is given outlives it.
    static Result<std::unique_ptr<Node>> open(
        store::Store& store, const trigger::Vocabulary& vocabulary, std::unique_ptr<event::Bus> bus,
        const engine::Secret& secret, observe::Diagnostics& diagnostics, NodeOptions options);
    ~Node();

    engine::Sharing sharing();
    void start(engine::Engine& engine);
    /// Hands its shards over and leaves.
    void stop();

    /// An input that another process sent here, sealed; `done` hears the answer as it is to be sent
    /// back. Unavailable when its shard is not here, InvalidInput when it is not of this system.
    Result<void> take(std::string_view sealed, std::function<void(std::string)> done);
    /// Tasks of functions of kind `poll` of all processes, given those of this one, which outlive
    /// its use. Once, before it is started.
    connector::poll::Desk& share_tasks(connector::poll::Desk& own);
    /// What another process asks of the tasks of this one, sealed; `done` hears them as they are to
    /// be sent back. What this gives calls it off.
    Result<std::function<void()>> give_tasks(std::string_view sealed,
                                             std::function<void(std::string)> done);
    NodeState state() const;
    /// Whether it is the one that does what is done once in the whole system.
    bool leads() const;

private:
    Node(store::Store& store, const trigger::Vocabulary& vocabulary,
         std::unique_ptr<event::Bus> bus, const engine::Secret& secret,
         observe::Diagnostics& diagnostics, NodeOptions options);

    void keep_leases(const std::stop_token& stop);
    /// Beside it, because a store that cannot be reached is waited for.
    void watch_leases(const std::stop_token& stop);
    bool is_late() const;
    Result<void> renew();
    void lose_all(std::string_view why);
    Result<void> take_shards(std::span<const ShardId> shards, Nanos until);
    /// How many it got.
    Result<std::size_t> take_some(std::span<const ShardId> shards);
    void let_go(const std::vector<ShardId>& shards);
    void show_peers(const store::LeaseTable& table);
    void hand_on(engine::Input&& input);
    void run_elsewhere(engine::StartInput&& input);
    void read_from_store(engine::QueryInput&& input);
    void send_events(std::string space, std::vector<event::Event> events, engine::Accepted done);

    store::Store& store_;
    const trigger::Vocabulary& vocabulary_;
    observe::Diagnostics& diagnostics_;
    NodeOptions options_;
    Seal seal_;
    store::Member member_;
    store::Leases& leases_;
    std::unique_ptr<event::Bus> bus_;
    std::unique_ptr<event::Producer> producer_;
    std::unique_ptr<reactor::TimerThread> timers_ = std::make_unique<reactor::TimerThread>();
    std::shared_ptr<OrderedSender> messages_;
    std::shared_ptr<Peers> peers_;
    connector::poll::Desk* own_tasks_ = nullptr;
    std::unique_ptr<TaskDesk> tasks_; ///< Null: nobody asks for any.
    reactor::WorkerPool readers_{"queries", {.threads = 2, .tasks_max = 10'000}};
    engine::Engine* engine_ = nullptr;
    std::atomic<std::uint64_t> sent_ = 0;   ///< Events, since the start.
    std::atomic<std::uint64_t> losses_ = 0; ///< How often the engine had to drop shards.
    std::unique_ptr<BusFeed> feed_;
    mutable std::mutex mutex_; ///< Of what follows.
    std::condition_variable_any changed_;
    std::set<ShardId> owned_;
    std::set<ShardId> leaving_;
    std::set<ShardId> lost_; ///< Another process may have them: their leases are given back.
    store::LeaseTable table_;
    Nanos renewed_{0};              ///< When the lease was last asked for.
    bool has_more_to_take_ = false; ///< Of the thread that renews alone.
    std::jthread thread_;
    std::jthread watcher_;
};

} // namespace sluice::cluster
