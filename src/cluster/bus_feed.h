#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "cluster/seal.h"
#include "engine/feed_progress.h"
#include "engine/input.h"
#include "event/bus.h"
#include "event/codec.h"
#include "observe/diagnostics.h"
#include "store/store.h"

namespace sluice::cluster {

/// What a feed needs; all of it outlives the feed.
struct FeedServices {
    event::Bus& bus;
    const store::Store& store;
    const Seal& seal;
    observe::Diagnostics& diagnostics;
    std::function<void(engine::Input&&)> take;          ///< Waits while a lane is busy.
    std::function<void(const Error&)> stop;             ///< The bus is of no use any more.
    Nanos reread_wait = std::chrono::milliseconds{500}; ///< After what failed.
};

/// Reads the partitions of the shards that this process owns, each from the position that its shard
/// has committed. One thread for all of them. What the bus refuses is tried again for a while: a
/// process that stood still asks for what the new owner of its shards has let go.
class BusFeed {
public:
    explicit BusFeed(FeedServices services);
    ~BusFeed();

    /// From any thread; the shard takes input by now, or soon.
    void add(ShardId shard);
    /// From any thread. What was read of it and not taken comes again to whoever reads it next.
    void remove(ShardId shard);
    /// Events that wait on the bus for our shards, as far as it is known.
    std::uint64_t lag() const { return lag_; }

private:
    struct Partition {
        std::string name;
        std::shared_ptr<engine::FeedProgress> progress;
        std::uint64_t last = 0;
        std::uint64_t confirmed = 0;
        std::uint64_t term = 0;
        std::uint64_t base = 0; ///< Where the numbers of a source begin that only counts.
        bool is_counted = false;
        bool is_left = false; ///< Too much of it is under way.
        Nanos again{0};       ///< It failed, and is read again from then on; zero: it is read.
    };

    void run(const std::stop_token& stop);
    void wait_to_read_again(const std::stop_token& stop);
    Result<void> read(event::Source& source, const std::stop_token& stop);
    Result<void> follow_changes(event::Source& source);
    Result<void> resume(event::Source& source, ShardId shard, std::uint64_t term);
    Result<void> keep_pace(event::Source& source);
    void hand_out(const event::Chunk& chunk);
    void add_event(event::Event&& event, std::uint64_t number, ShardId shard, Partition& partition);
    void flush(Partition& partition);

    FeedServices services_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    /// By the time they were added: one that went and came back meanwhile is read anew.
    std::map<ShardId, std::uint64_t> wanted_;
    std::uint64_t terms_ = 0;
    bool has_changed_ = false;
    std::atomic<std::uint64_t> lag_ = 0;
    // The thread's own.
    std::map<ShardId, Partition> partitions_;
    std::map<std::string, ShardId, std::less<>> by_name_;
    event::Codec codec_;
    engine::EventsInput gathered_;
    std::jthread thread_;
};

} // namespace sluice::cluster
