#pragma once

#include <vector>

#include "base/clock.h"
#include "trial/difference.h"
#include "trial/internal/mocked_cast.h"
#include "trial/test_file.h"

namespace sluice::trial::internal {

/// What became of a run.
struct Outcome {
    const Value& ending; ///< {status, result, error}
    Nanos duration;
    const std::vector<MadeCall>& calls;
    const std::vector<MadeCall>& sent; ///< To sinks.
    Value triggers;                    ///< As the run shows them.
};

/// Appends where it is not as expected.
void judge(const Expected& expected, const Outcome& outcome, std::vector<Difference>& out);

} // namespace sluice::trial::internal
