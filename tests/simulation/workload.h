#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "trigger/state.h"
#include "trigger/trigger_set.h"
#include "value/value.h"

namespace sluice::simulation {

/// An event a client sends.
struct PlannedEvent {
    std::string id;
    std::string type;
    std::int64_t key = 0; ///< `data.k`.
    bool by_bus = false;  ///< Comes by the numbered source, not by a client.
};

/// A run, what its clients do to it, and how it must end whatever goes wrong meanwhile.
struct RunPlan {
    std::string id;
    std::string definition;
    Value input;
    std::vector<PlannedEvent> events;
    std::string after; ///< Started once this run is; empty: at once.
    bool is_cancelled = false;
    bool is_reopened = false; ///< Once it has failed.
    bool is_paused = false;   ///< For a while.

    /// With an error of this kind it may have been cancelled instead, for another run of its
    /// definition; empty: not.
    std::string gives_way_as;

    trigger::Status status = trigger::Status::Succeeded;
    Value result;
    std::map<std::string, std::uint64_t> fires; ///< By trigger id, of those that are to be counted.
    std::uint64_t noted = 0; ///< Events that its first firing sends to a sink before it ends.
};

/// What they are made of.
trigger::Vocabulary make_vocabulary();

/// Every definition, as JSON of its trigger-set form.
std::vector<std::string> definitions();

/// Some runs of some of them.
std::vector<RunPlan> draw_plans(Random& random);

} // namespace sluice::simulation
