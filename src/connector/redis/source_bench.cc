// How fast is a stream read into chunks, beside a client that throws everything away?

#include <benchmark/benchmark.h>

#include "connector/redis/bus.h"
#include "connector/redis/producer.h"
#include "connector/redis/source.h"
#include "connector/redis/testing/scene.h"
#include "observe/diagnostics.h"

namespace sluice::connector::redis {
namespace {

constexpr auto event_count = std::uint64_t{200'000};
constexpr auto data_bytes = std::size_t{230}; // 300 bytes in all.

testing::Scene& scene() {
    static auto shared = [] {
        auto made = std::make_unique<testing::Scene>(
            resp::testing::Settings{.arguments = {"--appendonly", "no"}});
        made->add("bus:events:0", 0, event_count, data_bytes);
        return made;
    }();
    return *shared;
}

void read_into_chunks(benchmark::State& state, std::string_view query) {
    auto diagnostics = observe::NullDiagnostics{};
    auto& server = scene();
    for (auto unused : state) {
        std::ignore = server.tell("XGROUP", "DESTROY", "bus:events:0", "bench");
        auto source = open_source(server.options(query), diagnostics);
        std::ignore = (*source)->resume("bus:events:0", 0);
        for (auto read = std::uint64_t{0}; read < event_count;) {
            auto chunk = (*source)->read(std::size_t{1} << 20U, std::chrono::seconds{1});
            if (!chunk || chunk->records.empty()) {
                state.SkipWithError("it ended early");
                return;
            }
            read += chunk->records.size();
            (*source)->confirm("bus:events:0", chunk->records.back().number);
        }
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * event_count));
}
BENCHMARK_CAPTURE(read_into_chunks, by_position, "")->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read_into_chunks, by_group, "reading=group&group=bench")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

void ceiling(benchmark::State& state) {
    auto diagnostics = observe::NullDiagnostics{};
    auto bus = open_bus(scene().options(), diagnostics);
    for (auto unused : state) {
        auto measured = (*bus)->measure(ShardId{0}, event_count);
        state.counters["position"] = measured ? measured->position_events_per_second : 0;
        state.counters["group"] = measured ? measured->group_events_per_second : 0;
    }
}
BENCHMARK(ceiling)->UseRealTime()->Unit(benchmark::kMillisecond);

void produce(benchmark::State& state) {
    auto diagnostics = observe::NullDiagnostics{};
    auto& server = scene();
    auto producer = open_producer(server.options(), diagnostics);
    auto json = testing::event_json(1, data_bytes);
    for (auto unused : state) {
        for (auto number = 0; number < 100'000; ++number) {
            (*producer)->send({"made", "", json}, [](const Result<void>&) {});
        }
        std::ignore = (*producer)->flush(std::chrono::seconds{60});
        std::ignore = server.tell("UNLINK", "made");
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * 100'000);
}
BENCHMARK(produce)->UseRealTime()->Unit(benchmark::kMillisecond);

} // namespace
} // namespace sluice::connector::redis
