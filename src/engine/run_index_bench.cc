// What does a page of a hundred take in a store with a million runs, whatever is asked for? And
// what does a get of one key there?

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "base/random.h"
#include "engine/run_index.h"
#include "store/embedded/embedded_store.h"

namespace sluice::engine {
namespace {

using store::embedded::EmbeddedStore;
using trigger::Status;

constexpr auto runs = std::int64_t{1'000'000};

Time at_second(std::int64_t second) {
    return Time{std::chrono::seconds{second}};
}

/// One run a second. Nine in ten have succeeded; of the rest half have failed and half go on. One
/// in a hundred thousand is of the definition `rare`; `customer` has a thousand values.
void fill(EmbeddedStore& store) {
    auto random = Random{1};
    for (auto at = std::int64_t{0}; at < runs;) {
        auto batch = store.make_batch();
        for (auto end = at + 10'000; at < end; ++at) {
            auto summary = RunSummary{.definition = random.chance(0.00001) ? "rare" : "common",
                                      .started = at_second(at)};
            summary.labels = Value::object({{"env", random.chance(0.5) ? "prod" : "test"},
                                            {"customer", fmt::format("c{}", random.below(1000))}});
            summary.status = random.chance(0.9)   ? Status::Succeeded
                             : random.chance(0.5) ? Status::Failed
                                                  : Status::Running;
            if (summary.status != Status::Running) {
                summary.ended = at_second(at + static_cast<std::int64_t>(random.below(1000)));
            }
            auto run = RunName{.id = fmt::format("run-{}", at)};
            put_listed(summary, shard_of(run, store.shard_count()), run, *batch);
        }
        if (!store.commit(*batch)) {
            std::abort();
        }
    }
}

EmbeddedStore& million() {
    static const auto path = std::filesystem::current_path() / "run_index_bench";
    static auto store = [] {
        std::filesystem::remove_all(path);
        auto made = EmbeddedStore::open(path, {.durability = store::Durability::Relaxed}).value();
        fill(*made);
        made.reset();
        return EmbeddedStore::open(path, {}).value();
    }();
    return *store;
}

void page(benchmark::State& state, RunFilter filter) {
    auto& store = million();
    auto found = std::size_t{0};
    for (auto _ : state) {
        found = list_runs(store, filter)->runs.size();
    }
    state.counters["runs"] = static_cast<double>(found);
}

/// Every so manieth key of the store, in no order.
std::vector<std::string> some_keys(const EmbeddedStore& store) {
    auto keys = std::vector<std::string>{};
    auto number = std::uint64_t{0};
    for (auto cursor = store.scan({}, {}); cursor->is_valid(); cursor->next()) {
        if (number++ % 997 == 0) {
            keys.emplace_back(cursor->key());
        }
    }
    auto random = Random{1};
    for (auto at = keys.size(); at > 1; --at) {
        std::swap(keys[at - 1], keys[random.below(at)]);
    }
    return keys;
}

/// With something behind each key: of keys that are not there.
void get(benchmark::State& state, std::string_view behind) {
    auto& store = million();
    static const auto keys = some_keys(store);
    auto at = std::size_t{0};
    for (auto _ : state) {
        benchmark::DoNotOptimize(store.get(keys[at++ % keys.size()] + std::string{behind}).value());
    }
}

const auto is_registered = [] {
    for (const auto* behind : {"", "none"}) {
        benchmark::RegisterBenchmark(*behind == '\0' ? "get" : "get of nothing", get, behind)
            ->Unit(benchmark::kMicrosecond);
    }
    auto add = [](const char* name, const RunFilter& filter) {
        benchmark::RegisterBenchmark(name, page, filter)->Unit(benchmark::kMillisecond);
    };
    add("all", {});
    add("status", {.status = Status::Running});
    add("status that none has", {.status = Status::Cancelled});
    add("definition", {.definition = "common"});
    add("rare definition", {.definition = "rare"});
    add("label", {.label = "customer=c7"});
    add("label and status", {.status = Status::Failed, .label = "customer=c7"});
    add("definition, label and status",
        {.status = Status::Failed, .definition = "common", .label = "env=prod"});
    add("rare definition and label", {.definition = "rare", .label = "env=prod"});
    add("started in the middle",
        {.started_since = at_second(runs / 2), .started_until = at_second(runs / 2 + 60)});
    add("ended long ago", {.ended_until = at_second(1'000)});
    add("label, ended in the middle", {.label = "env=test",
                                       .ended_since = at_second(runs / 2),
                                       .ended_until = at_second(runs / 2 + 500)});
    add("ended and started, no run is both",
        {.started_until = at_second(10), .ended_since = at_second(runs / 2)});
    auto deep = RunFilter{.definition = "common", .most = 10'000};
    add("ten thousand", deep);
    return true;
}();

} // namespace
} // namespace sluice::engine
