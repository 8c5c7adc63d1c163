// What does a look-up cost as the number of patterns grows, and as the number of shapes does?

#include <string>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "base/random.h"
#include "trigger/pattern_index.h"

namespace sluice::trigger {
namespace {

TextPattern exact(std::string text) {
    return {.kind = TextPattern::Kind::Exact, .text = std::move(text)};
}

std::string type_of(std::uint64_t number) {
    return fmt::format("order.{}.paid", number);
}
std::string subject_of(std::uint64_t number) {
    return fmt::format("eu/{}", number % 1000);
}

/// Types to ask for, at random and as many as the largest index has, so that no cache holds them
/// all.
std::vector<std::string> questions(std::uint64_t patterns) {
    auto random = Random{7};
    auto types = std::vector<std::string>{};
    for (auto at = 0; at < 1 << 20; ++at) {
        types.push_back(type_of(random.below(patterns)));
    }
    return types;
}

template <typename Ask>
void ask_all(benchmark::State& state, const std::vector<std::string>& types, Ask ask) {
    auto found = Matches{};
    auto at = std::size_t{0};
    for (auto _ : state) {
        ask(types[at], found);
        benchmark::DoNotOptimize(found.data());
        at = (at + 1) % types.size();
    }
}

/// Each pattern has a type of its own.
void find_by_type(benchmark::State& state) {
    auto patterns = static_cast<std::uint64_t>(state.range(0));
    auto index = PatternIndex{};
    for (auto number = std::uint64_t{0}; number < patterns; ++number) {
        index.add({.type = exact(type_of(number)), .subject = {}},
                  {.trigger = TriggerNumber{static_cast<std::uint32_t>(number)}});
    }
    ask_all(state, questions(patterns),
            [&](const auto& type, auto& found) { index.find(type, "eu/17", found); });
}
BENCHMARK(find_by_type)->Arg(1)->Arg(100)->Arg(10'000)->Arg(1'000'000);

/// Each pattern has a type and a subject of its own.
void find_by_type_and_subject(benchmark::State& state) {
    auto patterns = static_cast<std::uint64_t>(state.range(0));
    auto index = PatternIndex{};
    for (auto number = std::uint64_t{0}; number < patterns; ++number) {
        index.add({.type = exact(type_of(number)), .subject = exact(subject_of(17))},
                  {.trigger = TriggerNumber{static_cast<std::uint32_t>(number)}});
    }
    ask_all(state, questions(patterns),
            [&](const auto& type, auto& found) { index.find(type, "eu/17", found); });
}
BENCHMARK(find_by_type_and_subject)->Arg(100)->Arg(1'000'000);

/// A million types, and prefixes of as many lengths as asked for that match nothing.
void find_among_shapes(benchmark::State& state) {
    auto index = PatternIndex{};
    for (auto number = 0U; number < 1'000'000U; ++number) {
        index.add({.type = exact(type_of(number)), .subject = {}},
                  {.trigger = TriggerNumber{number}});
    }
    for (auto length = std::int64_t{1}; length < state.range(0); ++length) {
        auto prefix = TextPattern{.kind = TextPattern::Kind::Prefix,
                                  .text = std::string(static_cast<std::size_t>(length), 'x')};
        index.add({.type = prefix, .subject = {}}, {.trigger = TriggerNumber{0}});
    }
    ask_all(state, questions(1'000'000),
            [&](const auto& type, auto& found) { index.find(type, "eu/17", found); });
}
BENCHMARK(find_among_shapes)->Arg(1)->Arg(2)->Arg(4)->Arg(8);

void find_nothing(benchmark::State& state) {
    auto index = PatternIndex{};
    for (auto number = 0U; number < 1'000'000U; ++number) {
        index.add({.type = exact(type_of(number)), .subject = {}},
                  {.trigger = TriggerNumber{number}});
    }
    auto found = Matches{};
    for (auto _ : state) {
        index.find("invoice.sent", "", found);
        benchmark::DoNotOptimize(found.data());
    }
}
BENCHMARK(find_nothing);

} // namespace
} // namespace sluice::trigger

BENCHMARK_MAIN();
