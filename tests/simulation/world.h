#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "action_log.h"
#include "base/random.h"
#include "bus.h"
#include "clients.h"
#include "functions.h"
#include "process.h"
#include "store/testing/simulated_store.h"
#include "timeline.h"
#include "workload.h"

namespace sluice::simulation {

/// What became of one seed.
struct Verdict {
    std::vector<std::string> problems;
    std::uint64_t hash = 0; ///< Of everything that happened.
    std::uint64_t lives = 0;
    std::uint64_t steps = 0;
};

/// Store, clock, functions, clients and one process after the other, all from one seed.
class World {
public:
    World(std::uint64_t seed, bool is_verbose);

    Verdict run();

private:
    void define();
    /// Until nothing is left to do.
    bool settle();
    bool step();
    void do_harm();
    void read();
    void check_read();
    void set_full(Nanos duration);
    void restart(store::testing::Loss loss);
    bool open_process();

    Random random_;
    ActionLog log_;
    Timeline timeline_;
    std::vector<RunPlan> plans_;
    ProcessOptions options_;
    std::unique_ptr<store::testing::SimulatedStore> store_;
    Functions functions_;
    Bus bus_;
    Clients clients_;
    std::unique_ptr<Process> process_; ///< After what it uses.
    std::uint64_t harms_left_ = 0;
    bool is_full_ = false;
    std::map<std::string, std::int64_t> read_; ///< How many events of a run a reader was told of.
    Verdict verdict_;
};

} // namespace sluice::simulation
