#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trigger/firing.h"
#include "workflow/asl/machine.h"

namespace sluice::workflow::asl::internal::run {

/// What the service allows, unless a definition was compiled otherwise.
struct Limits {
    std::uint64_t events_max = 25'000; ///< Of an execution's history; zero: any number.
    std::size_t payload_bytes_max = 262'144;
};

/// A state machine as its triggers share it.
struct Program {
    std::shared_ptr<const Machine> machine;
    Limits limits;
    bool is_express = false;
    bool is_mocked = false; ///< Every task is a call of one function that answers for all.
    bool is_tried = false;  ///< Every task is a call of a function of its own.
    std::vector<StateNumber> absent{}; ///< States whose activities are not there.
    std::string account = "123456789012";
    std::string region = "us-east-1";
    std::string token_key{}; ///< What task tokens are sealed with.

    trigger::TriggerNumber machine_trigger() const {
        return trigger::TriggerNumber{static_cast<std::uint32_t>(machine->states.size())};
    }
};

/// The id of a state's trigger, and its part in the paths of scopes: its name, or its number where
/// the name cannot be one.
std::string handle_of(const Machine& machine, StateNumber number);

} // namespace sluice::workflow::asl::internal::run
