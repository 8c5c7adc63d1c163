#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/stepfunctions/internal/operation.h"
#include "server/stepfunctions/state_machine.h"

namespace sluice::server::stepfunctions {

/// Fails with StateMachineDoesNotExist.
std::expected<StateMachine, Fault> find_machine(const World& world, std::string_view space,
                                                std::string_view name);
std::expected<void, Fault> keep_machine(World& world, std::string_view space,
                                        const StateMachine& machine);
/// Fails with ResourceNotFound.
std::expected<MachineAlias, Fault> find_alias(const World& world, std::string_view space,
                                              const Arn& arn);
std::vector<MachineAlias> aliases_of(const World& world, std::string_view space,
                                     std::string_view machine);

/// What an ARN of a machine means, also one with a version or an alias.
struct Meant {
    StateMachine machine;
    MachineVersion state; ///< The version; number 0: the machine as it is now.
    std::string alias;
};
/// An alias is followed for the execution of this name. Fails with StateMachineDoesNotExist or
/// InvalidArn.
std::expected<Meant, Fault> find_meant(const World& world, std::string_view space,
                                       std::string_view arn, std::string_view execution = {});

/// The machine's state gets a number, unless it has one: that number.
std::expected<MachineVersion, Fault> publish(World& world, StateMachine& machine,
                                             const std::optional<std::string>& description);

/// `[{key, value}, …]` added to a map. Fails with TooManyTags.
std::expected<Value, Fault> with_tags(const Value& tags, const Value& added);
Value tags_view(const Value& tags);

} // namespace sluice::server::stepfunctions
