#include "trigger/internal/interceptors.h"

#include <string_view>

#include <boost/unordered/unordered_flat_map.hpp>
#include <fmt/format.h>

#include "trigger/form_reader.h"

namespace sluice::trigger::internal {

namespace {

using Places = boost::unordered_flat_map<std::string_view, std::size_t>;

constexpr auto cycle_names_max = std::size_t{8};
constexpr auto no_trigger = SIZE_MAX;

std::string place_of(std::size_t index, std::string_view member) {
    return join_path(join_path("triggers", index), member);
}

Places find_places(const std::vector<TriggerSpec>& triggers, std::vector<Problem>& problems) {
    auto places = Places{};
    places.reserve(triggers.size());
    for (auto index = std::size_t{0}; index < triggers.size(); ++index) {
        const auto& id = triggers[index].id;
        auto [first, is_new] = places.try_emplace(id, index);
        if (!is_new && !id.empty()) {
            report(problems, place_of(index, "id"),
                   fmt::format("found the id {} again, expected it once: triggers/{} has it",
                               in_quotes(id), first->second));
        }
    }
    return places;
}

/// Of each trigger the one it intercepts by id. An interceptor by condition meets only triggers
/// that intercept nothing, so it never closes a cycle.
std::vector<std::size_t> find_targets(const std::vector<TriggerSpec>& triggers,
                                      const Places& places, std::vector<Problem>& problems) {
    auto targets = std::vector<std::size_t>(triggers.size(), no_trigger);
    for (auto index = std::size_t{0}; index < triggers.size(); ++index) {
        const auto& intercept = triggers[index].intercept;
        if (!intercept || intercept->trigger.empty()) {
            continue;
        }
        if (auto place = places.find(intercept->trigger); place != places.end()) {
            targets[index] = place->second;
        } else {
            report(problems, place_of(index, "intercept/trigger"),
                   fmt::format("found {}, expected the id of a trigger in this set",
                               in_quotes(intercept->trigger)));
        }
    }
    return targets;
}

std::string describe_cycle(const std::vector<TriggerSpec>& triggers,
                           const std::vector<std::size_t>& targets, std::size_t start) {
    auto text = "interceptors form a cycle: " + triggers[start].id;
    auto at = targets[start];
    for (auto names = std::size_t{1}; at != start && names < cycle_names_max; ++names) {
        text += " -> " + triggers[at].id;
        at = targets[at];
    }
    return text + (at == start ? " -> " : " -> … -> ") + triggers[start].id;
}

} // namespace

void check_ids(const std::vector<TriggerSpec>& triggers, std::vector<Problem>& problems) {
    auto places = find_places(triggers, problems);
    auto targets = find_targets(triggers, places, problems);
    // Each trigger is walked from once; a walk that meets itself has found a new cycle.
    auto walk_of = std::vector<std::size_t>(triggers.size(), no_trigger);
    for (auto start = std::size_t{0}; start < triggers.size(); ++start) {
        auto at = start;
        while (at != no_trigger && walk_of[at] == no_trigger) {
            walk_of[at] = start;
            at = targets[at];
        }
        if (at != no_trigger && walk_of[at] == start) {
            report(problems, place_of(at, "intercept"), describe_cycle(triggers, targets, at));
        }
    }
}

} // namespace sluice::trigger::internal
