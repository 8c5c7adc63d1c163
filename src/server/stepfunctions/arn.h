#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "server/stepfunctions/fault.h"

namespace sluice::server::stepfunctions {

/// What an ARN of the service names. Region and account are not looked at: here is one of each.
struct Arn {
    enum class Kind : std::uint8_t { StateMachine, Execution, Express, Activity, MapRun };

    Kind kind = Kind::StateMachine;
    std::string name;        ///< Of the machine or activity.
    std::string label{};     ///< Of a distributed Map: `stateMachine:NAME/LABEL`.
    std::string qualifier{}; ///< A version or alias; of an execution or map run its own name.
    std::string unique{};    ///< Of an express execution, behind its name.

    /// Fails with InvalidArn.
    static std::expected<Arn, Fault> parse(std::string_view text);
    /// Fails with InvalidArn also when it is of another kind.
    static std::expected<Arn, Fault> parse(std::string_view text, Kind kind);

    /// The number of the version that the qualifier is; nothing: it is an alias, or there is none.
    std::optional<std::uint64_t> version() const;
};

/// Makes ARNs.
struct ArnMaker {
    std::string region = "us-east-1";
    std::string account = "123456789012";

    std::string machine(std::string_view name, std::string_view qualifier = {}) const;
    std::string execution(std::string_view machine, std::string_view name) const;
    std::string express(std::string_view machine, std::string_view name,
                        std::string_view unique) const;
    std::string activity(std::string_view name) const;
    std::string map_run(std::string_view machine, std::string_view label,
                        std::string_view id) const;

private:
    std::string make(std::string_view kind, std::string_view rest) const;
};

/// Whether machines, executions and activities may have this name.
bool is_name(std::string_view name);

} // namespace sluice::server::stepfunctions
