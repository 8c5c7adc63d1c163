#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "sluice/exit_code.h"
#include "sluice/run/interrupts.h"

namespace sluice::app {

struct BenchOptions {
    std::string workload; ///< noop, join, sequence, parallel, waiting, latency, expr or asl.
    std::uint64_t events = 200'000;
    std::uint64_t event_bytes = 300;
    std::uint64_t triggers = 100;
    std::uint64_t matching =
        0; ///< Triggers that the events match, chosen at random; 0: all, at most 100 of a million.
    std::uint64_t length = 80;
    std::uint64_t width = 10'000;
    std::uint64_t runs = 1'000'000;
    std::string durability = "strict";
    std::uint32_t threads = 0; ///< 0: one, of asl one for each processor.
    std::uint32_t repetitions = 5;
    std::uint32_t pairs = 0; ///< Of noop and join in turn, to compare them.
    std::string bus{};       ///< By which events come; empty: none.
    std::string store{};     ///< Where state is; empty: the embedded store.
    std::string data;        ///< Where to write; empty: a folder that is removed again.
    std::string
        npm; ///< Of expr and asl: a folder of npm packages to compare with; empty: node's own.
    bool json = false;
    const Interrupts* interrupts = nullptr; ///< Null: nobody interrupts it.
};

/// Fails once it was interrupted. Asked before each part: what was made is removed on the way out.
Result<void> go_on(const BenchOptions& options);

/// Runs a standard workload and prints its figures beside the ceilings measured in the same run.
ExitCode bench(BenchOptions options);

} // namespace sluice::app
