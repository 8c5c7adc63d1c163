#pragma once

#include <expected>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "expr/states/sight.h"
#include "workflow/asl/internal/data_flow.h"
#include "workflow/asl/internal/test/given_context.h"
#include "workflow/asl/machine.h"
#include "workflow/asl/test_state.h"

namespace sluice::workflow::asl::internal {

/// One state, entered and left once, with what it has seen on the way.
class StateTrial {
public:
    /// What is handed in must outlive it, and have passed `mock_problem`.
    StateTrial(const StateTest& test, const Machine& machine, const State& state);

    std::expected<std::variant<StateTestOutcome, NeededCall>, StateTestProblem> run();

private:
    bool is_jsonata() const { return state_.language == Language::Jsonata; }
    Sight sight_of(const Value& data) const;
    void note(std::string_view name, Value value);

    /// Each of these ends the state one way or the other.
    Flow<void> pass();
    Flow<void> choose();
    Flow<void> wait();
    Flow<void> succeed();
    Flow<void> fail();
    /// Up to the work: what it is called with.
    Flow<Value> begin_task();
    Flow<void> begin_parallel();
    Flow<void> begin_map();
    Flow<void> read_limits(const MapState& map, const Sight& sight);
    Flow<void> read_map_items(const MapState& map, const Sight& sight);
    Flow<Value> select_items(const MapState& map, const Value& items, const Sight& sight);
    Flow<Value> batch_items(const ItemBatcher& batcher, const Value& items, const Sight& sight);
    Flow<void> work();
    Flow<void> complete(const Value& result);
    Flow<void> leave(const Value& result, const Sight& sight);

    Flow<Value> input_data();
    Flow<void> assign(const std::optional<Template>& assign, const Sight& sight);
    /// What becomes of an error: a retry, a catcher, or the end.
    void take(const Failure& failure);
    void catch_with(const Catcher& catcher, const Failure& failure);
    bool exceeds_tolerance() const;
    void show_variables();

    const StateTest& test_;
    const Machine& machine_;
    const State& state_;
    GivenContext context_;
    GivenVariables variables_;
    StateTestOutcome outcome_;
    std::vector<value::Member> seen_;
    std::vector<value::Member> error_details_;
    Value assigned_;
    std::optional<NeededCall> call_;
    std::optional<StateTestProblem> problem_;
    std::optional<StateNumber> next_;
    std::optional<std::int64_t> tolerated_count_;
    std::optional<double> tolerated_percentage_;
    std::optional<std::size_t> items_;
};

} // namespace sluice::workflow::asl::internal
