#pragma once

#include <string>
#include <vector>

#include "trial/test_file.h"
#include "trigger/spec.h"

namespace sluice::trial::internal {

using Problems = std::vector<trigger::Problem>;

/// The section `functions` or `tasks` of a test file: names to a reply, or to a list of them.
Replies read_replies(const Value& section, const std::string& path, Problems& problems);

} // namespace sluice::trial::internal
