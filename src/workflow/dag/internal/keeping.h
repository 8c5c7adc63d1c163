#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <boost/unordered/unordered_flat_map.hpp>

#include "workflow/dag/flow.h"

namespace sluice::workflow::dag::internal {

/// Which results may be kept by reference: those that no expression looks into, so that none ever
/// meets a reference. What is in doubt is kept by value.
class Keeping {
public:
    /// Of a definition, with what it gives; null: the results of its last tasks.
    Keeping(const Flow& flow, const Value* result);

    /// As the policy of a call has it: `kept`, or `root` when the result of the run has it, which
    /// the expressions of a run that started it may look into; empty: by value.
    std::string_view of(const FlowTask& task) const;

private:
    enum Use : std::uint8_t { InResult = 1, LookedInto = 2 };

    void read(const Flow& flow);
    /// In the flow and in those around it.
    void mark(const Flow& flow, std::string_view name, Use use);
    void mark_all(const Flow& flow);
    void mark_last(const Flow& flow, Use use);
    void mark_result(const Flow& flow, const Value& result, Use handed_on);

    bool is_known_; ///< Expressions in JSONata are not looked through.
    boost::unordered_flat_map<const FlowTask*, std::uint8_t> uses_;
};

} // namespace sluice::workflow::dag::internal
