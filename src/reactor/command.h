#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "reactor/control_group.h"

namespace sluice::reactor {

/// What a child may use up, together with its descendants as far as a control group holds them.
struct ResourceLimits {
    std::uint64_t memory_bytes = 0; ///< Zero: no limit, here and below.
    double cpu = 0;                 ///< Processors at once; needs a control group.
    Nanos cpu_time{0};              ///< Of each process, in whole seconds.

    bool operator==(const ResourceLimits&) const = default;
};

/// A program to run as a child process.
struct Command {
    std::vector<std::string> argv{}; ///< The first is looked up in our PATH unless it has a slash.
    /// Added to our own environment, in place of variables with the same name.
    std::vector<std::pair<std::string, std::string>> environment{};
    std::string directory{}; ///< Where it runs; empty: where we do.
    std::string input{};     ///< Its standard input, closed behind the last byte.
    Nanos timeout{0};        ///< Terminated after this long; zero: never.
    ResourceLimits resources{};
};

/// Hears what a command says that is talked to, on the runner's thread, without the line's end.
struct Listener {
    std::move_only_function<void(std::string_view line)> on_line;
    std::move_only_function<void(std::string_view line)> on_error_line;
};

enum class Exceeded : std::uint8_t { Nothing, Memory, CpuTime };

/// What became of a command.
struct Outcome {
    std::optional<Error> failure; ///< It could not be started or watched: the rest says nothing.
    int exit_code = 0;
    int signal = 0; ///< That ended it; zero when it exited by itself.
    bool is_timed_out = false;
    bool is_cancelled = false;
    bool is_output_cut = false; ///< It wrote more than is kept, or a line longer than that.
    Exceeded exceeded = Exceeded::Nothing; ///< Which limit ended it, where that can be told.
    std::string output;                    ///< The beginning of its standard output.
    std::string errors;                    ///< The end of its standard error.
};

struct CommandLimits {
    std::size_t output_bytes_max = 64UL * 1024 * 1024;
    std::size_t errors_bytes_max = 64UL * 1024;
    /// From SIGTERM to SIGKILL; also how long a descendant may hold the output open after the
    /// command has exited.
    Nanos grace = std::chrono::seconds{2};
    /// Where children with limits get control groups of their own (`find_control_group`); none:
    /// they are held by rlimits.
    ControlGroup control_group{};
};

} // namespace sluice::reactor
