// What does reading through the source cost beside the bare client, and writing through the
// producer?

#include <chrono>

#include <benchmark/benchmark.h>

#include "connector/nats/bus.h"
#include "connector/nats/testing/events.h"
#include "connector/nats/testing/nats_server.h"

namespace sluice::connector::nats {

namespace {

constexpr auto events = std::uint64_t{200'000};
constexpr auto data_bytes = std::size_t{228}; // 300 bytes as a whole.
constexpr auto chunk_bytes = std::size_t{1} << 20U;

/// A server with a bus of one shard.
struct Filled {
    observe::NullDiagnostics diagnostics;
    std::unique_ptr<testing::NatsServer> server = testing::NatsServer::start().value();
    std::unique_ptr<event::Bus> bus = open_bus(server->options(), diagnostics).value();
    double written_per_second = 0;

    Filled() {
        bus->create(1).value();
        auto producer = bus->open_producer().value();
        auto begin = std::chrono::steady_clock::now();
        testing::send_all(*producer, "sluice.0", 1, events, data_bytes).value();
        auto took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin);
        written_per_second = static_cast<double>(events) / took.count();
    }
};

Filled& filled() {
    static auto made = Filled{};
    return made;
}

void source_read(benchmark::State& state) {
    auto& bus = *filled().bus;
    for (auto _ : state) {
        auto source = bus.open_source().value();
        source->resume("sluice.0", 0).value();
        for (auto read = std::uint64_t{0}; read < events;) {
            read += source->read(chunk_bytes, std::chrono::seconds{5}).value().records.size();
        }
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(events) * state.iterations());
}

void bare_client(benchmark::State& state) {
    auto ceiling = event::Ceiling{};
    for (auto _ : state) {
        ceiling = filled().bus->measure(ShardId{0}, events).value();
    }
    state.counters["group/s"] = ceiling.group_events_per_second;
    state.counters["position/s"] = ceiling.position_events_per_second;
    state.counters["written/s"] = filled().written_per_second;
}

} // namespace

BENCHMARK(source_read)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(3);
BENCHMARK(bare_client)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(1)->Repetitions(3);

} // namespace sluice::connector::nats
