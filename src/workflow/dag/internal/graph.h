#pragma once

#include <cstdint>
#include <vector>

#include "workflow/dag/flow.h"

namespace sluice::workflow::dag::internal {

/// How the tasks of a flow hang together.
class Graph {
public:
    explicit Graph(const Flow& flow);

    /// Tasks in an order in which each comes behind those it waits for; fewer than there are when
    /// some wait for each other.
    const std::vector<std::uint32_t>& order() const { return order_; }
    /// Tasks that wait for each other, each for the one before; empty: there are none.
    std::vector<std::uint32_t> cycle() const;
    struct Finals {
        std::vector<std::uint32_t> tasks; ///< The last come first.
        std::size_t last = 0;             ///< So many have nothing behind them.
    };
    /// Tasks of which the flow's end must hear: nothing behind them waits for them to end.
    Finals finals() const;

    enum class Answer : std::uint8_t { No, Yes, TooFar };
    /// Whether a task comes before another. All answers together look only so far.
    Answer is_before(std::uint32_t first, std::uint32_t later);

private:
    const Flow& flow_;
    std::vector<std::uint32_t> order_;
    std::vector<std::uint32_t> place_; ///< In the order, by task.
    std::vector<std::uint32_t> seen_;  ///< By task: the last question that came by.
    std::uint32_t question_ = 0;
    std::uint64_t looks_left_ = 20'000'000;
};

} // namespace sluice::workflow::dag::internal
