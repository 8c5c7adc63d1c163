#include "workflow/asl/internal/run/walk.h"
#include "workflow/asl/internal/run/words.h"

// What is told of states that are under way when a branch or an item beside them fails.
namespace sluice::workflow::asl::internal::run {

namespace {

bool is_inline_map(const State& state) {
    const auto* map = std::get_if<MapState>(&state.details);
    return map != nullptr && !map->is_distributed;
}

bool has_children_in_history(const State& state) {
    return state.kind == Kind::Parallel || is_inline_map(state);
}

} // namespace

void Walk::abort_children(Tally& tally, const State& owner,
                          std::map<std::uint64_t, trigger::Incarnation> children) {
    for (const auto& [index, scope] : children) {
        auto last = abort_states(tally, scope);
        if (is_inline_map(owner)) {
            tell(tally, "MapIteration", "Aborted", last,
                 [&] { return Value::object({{"name", owner.name}, {"index", as_value(index)}}); });
        }
    }
}

std::uint64_t Walk::abort_states(Tally& tally, trigger::Incarnation scope) {
    auto last = std::uint64_t{0};
    for (auto number = StateNumber{0}; number < machine().states.size(); ++number) {
        const auto& memory = memory_of(scope, trigger::TriggerNumber{number});
        const auto* status = memory.find("status");
        if (status == nullptr || *status == Value{words::ready}) {
            continue;
        }
        const auto& state = machine().states[number];
        auto inner = fan_scope_of(scope, trigger::TriggerNumber{number});
        if (inner && has_children_in_history(state)) {
            abort_children(tally, state, children_of(*inner));
        }
        last = tell(tally, name_of(state.kind), "StateAborted", count_at(memory, "last"),
                    [] { return Value{}; });
    }
    return last;
}

} // namespace sluice::workflow::asl::internal::run
