#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "engine/catalog.h"
#include "trial/difference.h"
#include "trial/test_file.h"
#include "trigger/trigger_set.h"
#include "workflow/raw/function_form.h"

namespace sluice::trial {

/// A definition, compiled, whatever its language.
struct Subject {
    std::string name;
    std::vector<engine::Definition> definitions; ///< Those nested in it first, itself last.
    std::vector<workflow::raw::FunctionForm> functions;
    Value input; ///< Of a case that gives none.
};

struct Limits {
    std::uint64_t steps = 5'000'000;
    std::uint64_t moments = 200'000;                 ///< At which something was due.
    Nanos time = std::chrono::hours{24 * 365 * 100}; ///< That passes.
};

/// What became of a case: it has passed if nothing differs.
struct Verdict {
    std::vector<Difference> differences;
    Nanos duration{0}; ///< Of the run, in virtual time.

    bool has_passed() const { return differences.empty(); }
};

/// Runs a definition once, on virtual time, in memory, and compares. The same case gives the same
/// verdict.
Verdict try_case(const Subject& subject, const Case& tried, const trigger::Vocabulary& vocabulary,
                 const Limits& limits = {});

} // namespace sluice::trial
