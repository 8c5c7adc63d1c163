// How fast are events written to a stream and to queues, and read by our source, beside what a bare
// client can do? Each figure is one pass over 200,000 events of 300 bytes.

#include <atomic>
#include <chrono>
#include <string>

#include <benchmark/benchmark.h>

#include "base/invariant.h"
#include "connector/amqp/bus.h"
#include "connector/amqp/testing/broker_fixture.h"
#include "connector/amqp/testing/rabbitmq_server.h"

namespace sluice::connector::amqp {

namespace {

using Steady = std::chrono::steady_clock;

constexpr auto events = std::uint64_t{200'000};
constexpr auto event_bytes = std::size_t{300};

double rate_since(Steady::time_point began) {
    return static_cast<double>(events) /
           std::chrono::duration<double>(Steady::now() - began).count();
}

double write_all(event::Bus& bus) {
    auto producer = std::move(bus.open_producer()).value();
    auto json = testing::event_json(1, event_bytes);
    auto began = Steady::now();
    auto failed = std::atomic<std::uint64_t>{0};
    for (auto id = std::uint64_t{0}; id < events; ++id) {
        producer->send({.to = bus.partition(ShardId{0}), .key = {}, .json = json},
                       [&](const Result<void>& result) { failed += result ? 0 : 1; });
    }
    INVARIANT(producer->flush(std::chrono::minutes{2}) && failed == 0, "all must be confirmed");
    return rate_since(began);
}

double read_all(event::Bus& bus) {
    auto source = std::move(bus.open_source()).value();
    auto partition = bus.partition(ShardId{0});
    auto began = Steady::now();
    INVARIANT(source->resume(partition, 0), "the partition was made");
    for (auto count = std::uint64_t{0}; count < events;) {
        auto chunk = source->read(256 * 1024, std::chrono::seconds{20});
        INVARIANT(chunk && !chunk->records.empty(), "all must come");
        count += chunk->records.size();
        source->confirm(partition, chunk->records.back().number);
    }
    return rate_since(began);
}

void read_queue(benchmark::State& state, const std::string& type) {
    auto server = testing::shared_server();
    if (!server) {
        state.SkipWithError(server.error().message.c_str());
        return;
    }
    auto diagnostics = observe::NullDiagnostics{};
    auto options = parse_url((*server)->url() + "&prefix=bench." + type + "&queue=" + type).value();
    auto bus = std::move(open_bus(options, diagnostics)).value();
    for (auto _ : state) {
        INVARIANT(bus->create(1), "the broker is ours");
        state.counters["write"] = write_all(*bus);
        auto ceiling = bus->measure(ShardId{0}, events).value();
        state.counters["bare_group"] = ceiling.group_events_per_second;
        state.counters["bare_position"] = ceiling.position_events_per_second;
        state.counters["source"] = read_all(*bus);
        INVARIANT(bus->remove(1), "the broker is ours");
    }
}

BENCHMARK_CAPTURE(read_queue, stream, std::string{"stream"})->Iterations(1)->UseRealTime();
BENCHMARK_CAPTURE(read_queue, quorum, std::string{"quorum"})->Iterations(1)->UseRealTime();
BENCHMARK_CAPTURE(read_queue, classic, std::string{"classic"})->Iterations(1)->UseRealTime();

} // namespace

} // namespace sluice::connector::amqp
