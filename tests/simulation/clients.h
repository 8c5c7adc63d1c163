#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "action_log.h"
#include "base/random.h"
#include "engine/input.h"
#include "timeline.h"
#include "workload.h"

namespace sluice::simulation {

/// Who starts the runs and sends them events: at any time, in any order, sometimes twice, and again
/// until it is acknowledged.
class Clients {
public:
    using Post = std::function<void(engine::Input&&)>;

    /// `begun` is told of each plan whose run has begun.
    Clients(const std::vector<RunPlan>& plans, std::uint16_t shard_count, Timeline& timeline,
            Random& random, ActionLog& log, Post post,
            std::function<void(const RunPlan& plan)> begun);

    /// The process died: whoever waits for an answer asks again.
    void ask_again();
    /// How many requests were never acknowledged.
    std::size_t open_requests() const;

    struct Acknowledged {
        std::string run;
        std::string source;
        std::string event;
        trigger::Fate fate = trigger::Fate::Late;
    };
    const std::vector<Acknowledged>& acknowledged() const { return acknowledged_; }

    static std::string source_of(const RunPlan& plan) { return "client of " + plan.id; }

private:
    enum class Kind : std::uint8_t { Start, Event, Cancel, Reopen, Pause };
    struct Request {
        Kind kind = Kind::Event;
        std::size_t plan = 0;
        std::size_t event = 0; ///< In the plan.
        bool is_begun = false;
        bool is_acknowledged = false;
    };

    void send_later(std::size_t request, std::uint64_t within_ms);
    void send(std::size_t request);
    void send_events(std::size_t first);
    void reopen(std::size_t request);
    void pause(std::size_t request);
    void started(std::size_t plan);
    void confirm(std::size_t request);
    void refused(std::size_t request, const Error& error);

    const std::vector<RunPlan>& plans_;
    std::uint16_t shard_count_;
    Timeline& timeline_;
    Random& random_;
    ActionLog& log_;
    Post post_;
    std::function<void(const RunPlan& plan)> begun_;
    std::vector<Request> requests_;
    std::vector<Acknowledged> acknowledged_;
};

} // namespace sluice::simulation
