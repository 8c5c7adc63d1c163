#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "engine/catalog.h"
#include "server/documents.h"
#include "server/stepfunctions/fault.h"

namespace sluice::server::stepfunctions {

/// One state of a machine that was given a number: it never changes.
struct MachineVersion {
    std::uint64_t number = 0;
    std::string hash; ///< Of the definition in the catalogue.
    std::string revision;
    std::string role;
    std::string description;
    Time created{};
};

/// What the service knows of a state machine besides its definition, which the catalogue has.
struct StateMachine {
    static constexpr auto kind = std::string_view{"state_machine"};

    std::string name;
    bool is_express = false;
    std::string hash;     ///< Of its definition as it is now.
    std::string revision; ///< Changes with every update.
    std::string role;
    Value logging; ///< As it was given: told, and not acted upon. So are the next two.
    Value tracing;
    Value encryption;
    Value tags; ///< A map.
    Time created{};
    Time updated{};
    std::uint64_t versions_made = 0;
    std::vector<MachineVersion> versions; ///< The oldest first.

    const MachineVersion* version(std::uint64_t number) const;
    Document to_document(std::string_view space) const;
    static Result<StateMachine> read(const Document& document);
};

/// A name for one version of a machine, or two with their weights.
struct MachineAlias {
    static constexpr auto kind = std::string_view{"state_machine_alias"};
    struct Route {
        std::uint64_t version = 0;
        std::uint32_t weight = 100; ///< Of a hundred.
    };

    std::string machine;
    std::string name;
    std::string description;
    std::vector<Route> routes;
    Time created{};
    Time updated{};

    /// The version that an execution of this name goes to: always the same.
    std::uint64_t version_for(std::string_view execution) const;
    Document to_document(std::string_view space) const;
    static Result<MachineAlias> read(const Document& document);
};

/// Something that workers outside do: a function whose tasks they ask for.
struct Activity {
    static constexpr auto kind = std::string_view{"activity"};

    std::string name;
    Value tags;
    Time created{};

    Document to_document(std::string_view space) const;
    static Result<Activity> read(const Document& document);
};

/// Labels of runs that were started by way of a version or an alias.
inline constexpr auto version_label = std::string_view{"aws.version"};
inline constexpr auto alias_label = std::string_view{"aws.alias"};

/// What `MACHINE:VERSION` or `MACHINE:ALIAS` means to an execution.
std::optional<engine::Catalog::Meaning> find_version(const Documents& documents,
                                                     std::string_view space, std::string_view name,
                                                     std::string_view run);

} // namespace sluice::server::stepfunctions
