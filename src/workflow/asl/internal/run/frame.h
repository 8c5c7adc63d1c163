#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "expr/states/sight.h"
#include "trigger/state.h"
#include "workflow/asl/internal/run/program.h"

namespace sluice::workflow::asl::internal::run {

struct Fan;

/// How many events the history of an execution has: of the run itself, or of a child execution of a
/// distributed Map.
struct Tally {
    std::uint64_t events = 0;
    trigger::Incarnation scope = trigger::root_scope; ///< Where it is remembered.
    bool is_of_child = false;                         ///< Its history is not the run's.
    bool has_changed = false;
    // Of a child:
    Time started{};
    std::uint64_t redrives = 0;
    Value about;        ///< Where its result is written: `{input, started}`.
    Value item;         ///< `$$.Map.Item` where the map has it no more; null: it has.
    Value failed_at;    ///< Where a redrive goes on: `{state, input}`.
    std::string name{}; ///< If somebody wants to hear of it.

    /// What is remembered of it.
    Value to_memory() const;
    static Tally from_memory(const Value& memory);
    bool is_heard() const { return !is_of_child || !name.empty(); }
};

/// One flow that is under way: the machine's own, a branch, or what is done for an item.
///
/// It has a scope once something in it has to wait; until then nothing of it is recorded.
struct Frame {
    FlowNumber flow = 0;
    Frame* outer = nullptr; ///< The flow that its owner is a state of; null: the machine's own.
    Fan* fan = nullptr;     ///< The owner's, while that is being performed.
    std::optional<trigger::Incarnation> scope{};
    std::uint64_t index = 0; ///< Of the branch or item.
    Value item;              ///< `$$.Map.Item`; null: it is no item.
    Value variables;         ///< A map, or null.
    std::uint64_t last = 0;  ///< Its last event in the history.
    Tally* tally = nullptr;
    bool hides_outer = false; ///< Variables of the flows around it are not seen.
};

/// The variables of a flow and of those around it.
class FrameVariables final : public expr::states::Variables {
public:
    explicit FrameVariables(const Frame& frame) : frame_(frame) {}

    const Value* find(std::string_view name) const override;
    Value all() const override;

private:
    const Frame& frame_;
};

} // namespace sluice::workflow::asl::internal::run
