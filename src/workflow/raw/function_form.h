#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "trigger/spec.h"
#include "value/value.h"

namespace sluice::workflow::raw {

/// A pool is declared among functions, though it is what calls take slots of and not called.
enum class FunctionKind : std::uint8_t { Builtin, Process, Http, Poll, Pool, Broker };
std::string_view to_string(FunctionKind kind);

/// What each process of a function may use up; zero: no limit.
struct ResourceForm {
    std::uint64_t memory_bytes = 0;
    double cpu = 0; ///< Processors.
    Nanos cpu_time{0};

    bool operator==(const ResourceForm&) const = default;
};

/// Processes that stay for further calls.
struct PoolForm {
    std::uint32_t max = 4;
    Nanos idle = std::chrono::seconds{60};
    std::uint64_t calls = 0; ///< Zero: any number.
    Nanos heartbeat{0};      ///< Zero: none is asked for.

    bool operator==(const PoolForm&) const = default;
};

/// A function as the section `functions` declares it.
struct FunctionForm {
    std::string name;
    FunctionKind kind = FunctionKind::Builtin;
    std::string builtin;           ///< Which of the built-in ones it is.
    std::vector<std::string> argv; ///< A command written as a text is run by `sh -c`.
    std::vector<std::pair<std::string, std::string>> environment;
    std::string directory;
    ResourceForm resources;
    std::optional<PoolForm> pool;
    std::string url;
    std::vector<std::pair<std::string, std::string>> headers;
    bool is_plain_json = false;    ///< The request is the input alone, no CloudEvent.
    bool is_private = false;       ///< May go to loopback and private addresses, if it is trusted.
    Nanos heartbeat{0};            ///< How long a worker may be silent; zero: not said.
    std::uint32_t offers = 0;      ///< How often workers are offered an attempt; zero: not said.
    Value policy;                  ///< `timeout`, `retry` and rates as written; null: none.
    std::uint32_t concurrency = 0; ///< Zero: no limit.
    std::uint32_t slots = 0;       ///< Of a pool.
    Value broker;                  ///< What only the broker understands: `url`, and more.
    std::string secret_scope;      ///< Whose secrets texts refer to; empty: the operator's.
    bool is_of_task = false;       ///< A task brings it along, and nobody else calls it.

    bool operator==(const FunctionForm&) const = default;
};

/// A function on its own; or everything that is wrong with it.
std::expected<FunctionForm, std::vector<trigger::Problem>> read_function(const std::string& name,
                                                                         const Value& form);

/// Those of a section `functions`. What is wrong is appended, with paths from `functions` on.
std::vector<FunctionForm> read_functions(const Value& section,
                                         std::vector<trigger::Problem>& problems);

/// Is there without being declared: echo, fail, flaky, noop, sleep.
bool is_builtin(std::string_view function);

} // namespace sluice::workflow::raw
