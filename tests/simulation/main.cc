#include <charconv>
#include <chrono>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "world.h"

// Runs the engine in a world where everything that may go wrong does, once for each seed:
// README.md.
namespace {

struct Options {
    std::uint64_t first = 1;
    std::uint64_t seeds = 100;
    bool is_verbose = false;
};

[[noreturn]] void explain() {
    fmt::print(stderr, "usage: sluice_simulation [--seeds N] [--first S] [--verbose]\n");
    std::exit(2);
}

Options read_options(int count, char** words) {
    auto options = Options{};
    for (auto at = 1; at < count; ++at) {
        auto word = std::string_view{words[at]};
        if (word == "--verbose") {
            options.is_verbose = true;
            continue;
        }
        if ((word != "--seeds" && word != "--first") || at + 1 == count) {
            explain();
        }
        auto text = std::string_view{words[++at]};
        auto& number = word == "--seeds" ? options.seeds : options.first;
        auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error != std::errc{} || end != text.data() + text.size()) {
            explain();
        }
    }
    return options;
}

/// One seed; now and then twice, since what does not repeat cannot be mended.
sluice::simulation::Verdict run_seed(std::uint64_t seed, bool is_verbose) {
    auto verdict = sluice::simulation::World{seed, is_verbose}.run();
    if (seed % 50 == 0 && !is_verbose) {
        auto again = sluice::simulation::World{seed, false}.run();
        if (again.hash != verdict.hash) {
            verdict.problems.emplace_back("a second time it went otherwise");
        }
    }
    return verdict;
}

} // namespace

int main(int count, char** words) {
    auto options = read_options(count, words);
    auto begun = std::chrono::steady_clock::now();
    auto failed = std::uint64_t{0};
    auto lives = std::uint64_t{0};
    auto steps = std::uint64_t{0};
    for (auto at = std::uint64_t{0}; at < options.seeds; ++at) {
        auto seed = options.first + at;
        auto verdict = run_seed(seed, options.is_verbose);
        lives += verdict.lives;
        steps += verdict.steps;
        if (verdict.problems.empty()) {
            continue;
        }
        ++failed;
        fmt::print(
            "seed {} failed (log {:016x}); repeat it with: sluice_simulation --first {} --seeds 1 "
            "--verbose\n",
            seed, verdict.hash, seed);
        for (const auto& problem : verdict.problems) {
            fmt::print("  {}\n", problem);
        }
        std::fflush(stdout);
    }
    auto seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    fmt::print("{} seeds, {} failed; {} lives, {} steps, {:.1f} s\n", options.seeds, failed, lives,
               steps, seconds);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
