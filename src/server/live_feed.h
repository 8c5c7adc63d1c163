#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "engine/engine.h"
#include "reactor/mailbox.h"
#include "server/internal/live_channel.h"

namespace sluice::server {

enum class LiveTopic : std::uint8_t {
    Run,     ///< What is decided of one run, by its event numbers.
    Runs,    ///< Runs that begin, end or go on.
    Events,  ///< What is decided of all runs.
    Metrics, ///< What is counted, once a second.
};

struct LiveOptions {
    LiveLimits run{};
    LiveLimits all{.window_bytes = std::size_t{1} << 20U};
    std::size_t readers_max = 10'000;
    std::size_t queued_bytes_max = std::size_t{64}
                                   << 20U; ///< From lanes; beyond, records are lost.
    /// Readers are served in rounds, so far apart that they are this many offers a second in all.
    std::uint64_t offers_per_second_max = 2'000;
    Nanos heartbeat = std::chrono::seconds{15};
    /// How long a topic without readers is followed, so that who reconnects misses nothing.
    Nanos linger = std::chrono::seconds{30};
};

/// What happens, for those who watch it live. Lanes hand it what became durable and go on: one
/// thread of its own does the rest, and what it cannot keep up with is left out and said so.
class LiveFeed {
public:
    /// `metrics` gives what readers of that topic are told. The clock outlives it.
    LiveFeed(const Clock& clock, std::function<Value()> metrics, LiveOptions options = {});
    ~LiveFeed();

    /// For the engine, which must have stopped before this goes.
    engine::Watch watch();

    /// A place for one more reader, who then joins or leaves; nothing when there are too many.
    std::optional<LiveReaderId> reserve();
    /// Everyone with a place joins, and leaves once; in whichever order. `last_id` is what it read
    /// last, of a topic of all runs; empty: nothing. From any thread.
    void join(LiveReaderId id, LiveTopic topic, const engine::RunName& run, LiveReader reader,
              const std::string& last_id = "");
    void leave(LiveReaderId id);
    /// A reader of a run has read its history to right before this event.
    void go_live(LiveReaderId id, std::uint64_t next);

    void start();
    void stop();
    /// One round: takes what came and serves readers. For the thread, and for tests in its place.
    void step();
    /// How long to wait before the next round.
    Nanos pace() const;
    std::size_t readers() const { return reserved_.load(std::memory_order_relaxed); }

private:
    struct Joining {
        LiveReaderId id;
        LiveTopic topic = LiveTopic::Run;
        engine::RunName run;
        LiveReader reader;
        std::string last_id;
    };
    struct Leaving {
        LiveReaderId id;
    };
    struct Arriving {
        LiveReaderId id;
        std::uint64_t next = 0;
    };
    struct Record {
        engine::RunName run;
        std::string bytes;
    };
    struct Listed {
        engine::RunName run;
        engine::RunSummary summary;
    };
    using Item = std::variant<Joining, Leaving, Arriving, Record, Listed>;

    /// A topic of all runs. Its numbers count from when it was last followed anew.
    struct Topic {
        std::atomic<bool> is_followed = false;
        std::optional<LiveChannel> channel;
        Nanos left{0};             ///< When it was last read.
        std::uint64_t dropped = 0; ///< As far as its readers were told.
        bool has_skipped = false;  ///< Since the last message.
    };
    struct RunChannel {
        LiveChannel channel;
        std::deque<std::string> records; ///< Not yet read.
        std::size_t bytes = 0;
    };

    bool wants(const engine::RunName& run) const;
    void take_record(const engine::RunName& run, std::string_view record);
    void take_listed(const engine::RunName& run, const engine::RunSummary& summary);
    void take(Joining&& joining);
    void take(Leaving&& leaving);
    void take(Arriving&& arriving);
    void take(Record&& record);
    void take(Listed&& listed);
    void read_records(RunChannel& run);
    void read_events(const engine::RunName& run, const std::string& record);
    void add_metrics();
    Topic& topic(LiveTopic topic) { return topics_[static_cast<std::size_t>(topic) - 1]; }
    const Topic& topic(LiveTopic topic) const {
        return topics_[static_cast<std::size_t>(topic) - 1];
    }
    void join_topic(Joining&& joining);
    void leave_run(const engine::RunName& run, LiveReaderId id);
    void tell(LiveTopic topic, LiveMessage message);
    void rest_if_alone(LiveTopic topic);
    void serve();
    void run_thread(const std::stop_token& stop);
    std::size_t slot_of(const engine::RunName& run) const;

    const Clock& clock_;
    std::function<Value()> metrics_;
    LiveOptions options_;
    std::string boot_; ///< Tells this process's ids from those of others.

    // Read by lanes:
    alignas(64) std::atomic<std::uint32_t> watched_ = 0;       ///< Readers of runs and of events.
    std::array<std::atomic<std::uint32_t>, 1'024> interest_{}; ///< By hash of the run.
    std::atomic<std::size_t> queued_bytes_ = 0;
    std::atomic<std::uint64_t> dropped_ = 0;
    std::atomic<std::size_t> reserved_ = 0;
    std::atomic<std::uint64_t> last_id_ = 0;
    reactor::Mailbox<Item> mail_;

    // Of the thread that steps:
    std::vector<Item> items_;
    std::map<engine::RunName, RunChannel> runs_;
    std::array<Topic, 3> topics_; ///< Without Run.
    std::map<LiveReaderId, std::pair<LiveTopic, engine::RunName>> places_;
    std::set<LiveReaderId> gone_early_; ///< Left before they had joined.
    std::uint64_t followed_ = 0;        ///< Counts topics that were followed anew.
    std::size_t events_read_ = 0;       ///< Bytes of records in this round.
    Nanos beaten_{0};
    Nanos measured_{0};
    std::jthread thread_;
};

} // namespace sluice::server
