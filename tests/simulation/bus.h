#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "action_log.h"
#include "base/random.h"
#include "engine/input.h"
#include "store/store.h"
#include "timeline.h"
#include "workload.h"

namespace sluice::simulation {

/// A numbered source that outlives every process. It is read as feed_source does it, without a
/// thread: in order, from the smallest position that the store has, each shard's part by itself,
/// and again from there when a part comes back. What is of one run comes packed now and then.
class Bus {
public:
    using Post = std::function<void(engine::Input&&)>;
    /// The store as it is now: each life of the process has another.
    using Stored = std::function<const store::Store&()>;

    static constexpr auto partition = "bus";
    static constexpr auto source = "bus";

    Bus(Timeline& timeline, Random& random, ActionLog& log, Post post, Stored stored);

    /// Puts the events of a run that come this way behind those that are there, some strays between
    /// them.
    void publish(const RunPlan& plan);
    /// The process died, and with it whoever read.
    void read_again();

    struct Message {
        std::string run;
        std::string id;
        std::string type;
        std::int64_t key = 0;
        bool is_stray = false; ///< There is no such run.
    };
    /// The first has the number 1.
    const std::vector<Message>& messages() const { return messages_; }

private:
    void read_later(std::uint64_t within_ms);
    void read();
    void resume();
    void hand_out(std::uint64_t first, std::uint64_t last);
    static void pack(engine::EventsInput& part);
    void heard(std::uint64_t reader, const Result<engine::Receipt>& receipt);
    void move_along();
    void leave();

    Timeline& timeline_;
    Random& random_;
    ActionLog& log_;
    Post post_;
    Stored stored_;
    std::vector<Message> messages_;
    std::uint64_t reader_ = 0; ///< Counts readings: what an earlier one hears does not matter.
    bool is_resumed_ = false;
    std::vector<std::uint64_t> positions_;
    std::uint64_t next_ = 1;
    std::uint64_t under_way_ = 0;
    std::uint64_t strays_ = 0;
};

} // namespace sluice::simulation
