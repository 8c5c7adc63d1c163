#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "value/value.h"
#include "workflow/asl/machine.h"

namespace sluice::workflow::asl {

/// One thing wrong with a definition, in the service's terms.
struct Diagnostic {
    enum class Severity : std::uint8_t { Error, Warning };
    Severity severity = Severity::Error;
    std::string code;     ///< `SCHEMA_VALIDATION_FAILED`, `MISSING_TRANSITION_TARGET`, …
    std::string location; ///< JSON pointer: `/States/Ship/Next`.
    std::string message;
};

struct ReadOptions {
    bool is_express = false; ///< Refuses what express machines may not have.
    /// The form is one state, as TestState takes it. It becomes state 0, without a name, and may go
    /// to any state: those are added after it, as Succeed states.
    bool is_single_state = false;
    /// Refuses integrations that are known but not done here: those only mocks can answer.
    bool refuses_unsupported = false;
};

/// A machine from its parsed definition, or everything that is wrong with it.
std::expected<std::shared_ptr<const Machine>, std::vector<Diagnostic>> read(
    const Value& form, const ReadOptions& options = {});

/// Everything that is to be said of a definition: what is wrong with it, then what does not stop
/// it.
std::vector<Diagnostic> diagnose(const Value& form, const ReadOptions& options = {});
/// The latter alone.
std::vector<Diagnostic> warnings(const Value& form, const ReadOptions& options = {});

} // namespace sluice::workflow::asl
