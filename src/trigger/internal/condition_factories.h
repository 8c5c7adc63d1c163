#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "expr/program.h"
#include "trigger/condition.h"

namespace sluice::trigger::internal {

using ConditionPtr = std::shared_ptr<const Condition>;
using Problems = std::vector<Problem>;

ConditionPtr make_count(const Value& params, const ConditionSite& site, Problems& problems);
ConditionPtr make_threshold(const Value& params, const ConditionSite& site, Problems& problems);
ConditionPtr make_quorum(const Value& params, const ConditionSite& site, Problems& problems);
ConditionPtr make_all(const Value& params, const ConditionSite& site, Problems& problems);
ConditionPtr make_sequence(const Value& params, const ConditionSite& site, Problems& problems);

Verdict waits(std::uint64_t progress);
Verdict fires(std::uint64_t progress);
Verdict faults(std::uint64_t progress, expr::Fault fault);

enum class Yields : bool { Anything, Bool };

/// Nothing when it does not compile, which is then reported.
std::optional<expr::Program> compile(const std::string& text, Yields yields,
                                     const ConditionSite& site, const std::string& path,
                                     Problems& problems);
/// Reports parameters that a condition without any was given.
void refuse_params(const Value& params, Problems& problems);

} // namespace sluice::trigger::internal
