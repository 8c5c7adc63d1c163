#include "sluice/bench/bench_bus.h"

#include <atomic>
#include <condition_variable>
#include <future>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <malloc.h>

#include "sluice/backend/brokers.h"

namespace sluice::app {

namespace {

constexpr auto fill_wait_max = std::chrono::minutes{10};
constexpr auto read_wait = std::chrono::seconds{1};
constexpr auto latency_events = 300;
constexpr auto warm_up_time = std::chrono::seconds{6};
constexpr auto warm_up_bytes = std::size_t{512} * 1024;

std::string latency_event(std::uint64_t number, std::string_view type) {
    return fmt::format(
        R"({{"specversion":"1.0","id":"{}","source":"bench","type":"{}","run":"latency"}})", number,
        type);
}

Result<void> send_and_wait(event::Producer& producer, event::Outgoing message) {
    auto sent = std::promise<Result<void>>{};
    auto answer = sent.get_future();
    producer.send(std::move(message), [&](Result<void> result) { sent.set_value(result); });
    return answer.get();
}

/// When the next event comes to a bare reader.
Result<SteadyTime> read_one(event::Source& source) {
    for (auto tries = 0; tries < 10; ++tries) {
        auto chunk = TRY(source.read(std::size_t{64} * 1024, read_wait));
        if (!chunk.records.empty()) {
            auto now = std::chrono::steady_clock::now();
            source.confirm(chunk.partition, chunk.records.back().number);
            return now;
        }
    }
    return fail(Errc::Unavailable, "an event that was sent did not come");
}

} // namespace

Result<void> measure_round_trips(BusLoad& load, event::Producer& producer, Samples& samples) {
    auto source = TRY(load.open_source());
    TRY(source->resume(load.partition(), 0));
    for (auto at = 0; at < latency_events; ++at) {
        auto came = std::async(std::launch::async, [&] { return read_one(*source); });
        auto begin = std::chrono::steady_clock::now();
        TRY(send_and_wait(producer, {.to = load.partition(),
                                     .key = fmt::format("bare/{}", at),
                                     .json = latency_event(static_cast<std::uint64_t>(at), "x")}));
        auto read = TRY(came.get());
        samples.add(std::chrono::duration<double, std::micro>(read - begin).count());
    }
    return {};
}

Result<event::Chunk> CountedSource::read(std::size_t bytes_max, Nanos wait) {
    TRY(go_on(options_));
    auto chunk = TRY(source_.read(bytes_max, wait));
    if (began_ == SteadyTime{} && !chunk.records.empty()) {
        began_ = std::chrono::steady_clock::now();
    }
    left_ -= std::min<std::uint64_t>(left_, chunk.records.size());
    chunk.is_last = left_ == 0;
    return chunk;
}

Result<std::unique_ptr<BusLoad>> BusLoad::open(const std::string& url, std::uint16_t partitions,
                                               observe::Diagnostics& diagnostics) {
    auto bus = TRY(open_bus(url, diagnostics));
    TRY(bus->create(partitions));
    return std::unique_ptr<BusLoad>{new BusLoad{std::move(bus), partitions}};
}

BusLoad::~BusLoad() {
    static_cast<void>(bus_->remove(partitions_).has_value());
}

Result<void> BusLoad::fill(
    const std::function<void(const std::function<void(std::string)>&)>& lines) {
    auto producer = TRY(bus_->open_producer());
    auto failed = std::make_shared<std::atomic<std::uint64_t>>(0);
    auto count = std::uint64_t{0};
    lines([&](std::string line) {
        producer->send({.to = partition(),
                        .key = fmt::format("{}/{}", partition(), count++),
                        .json = std::move(line)},
                       [failed](const Result<void>& sent) { *failed += sent ? 0 : 1; });
    });
    TRY(producer->flush(fill_wait_max));
    producer.reset();
    ::malloc_trim(0); // What was needed to fill it is no part of what is measured.
    if (*failed > 0) {
        return fail(Errc::Unavailable, "{} of {} events did not get onto the bus", failed->load(),
                    count);
    }
    return {};
}

Result<event::Ceiling> BusLoad::measure(std::uint64_t events) {
    auto ceiling = bus_->measure(at_, events);
    ::malloc_trim(0); // Nor is what its clients needed.
    return ceiling;
}

Result<void> BusLoad::warm_up(std::uint64_t events, const BenchOptions& options) {
    auto end = std::chrono::steady_clock::now() + warm_up_time;
    auto is_time_left = [&] { return std::chrono::steady_clock::now() < end; };
    while (is_time_left()) {
        auto source = TRY(bus_->open_source());
        auto counted = CountedSource{*source, partition(), events, options};
        TRY(counted.resume(partition(), 0));
        for (auto is_last = false; !is_last && is_time_left();) {
            is_last = TRY(counted.read(warm_up_bytes, read_wait)).is_last;
        }
    }
    ::malloc_trim(0);
    return {};
}

Result<void> bench_latency(const BenchOptions& options, BenchWorld& world, BenchFigures& figures) {
    if (options.bus.empty()) {
        return fail(Errc::InvalidInput, "latency is measured over a bus: give --bus");
    }
    auto load = TRY(BusLoad::open(options.bus, 2, world.diagnostics()));
    auto producer = TRY(load->open_producer());
    TRY(measure_round_trips(*load, *producer, figures.ceiling_round_trip_us));
    load->next();
    auto invoke = Value::object({{"invoke", Value::object({{"function", "noop"}})}});
    auto trigger = Value::object(
        {{"id", "ping"}, {"on", "ping"}, {"lifetime", "persistent"}, {"action", invoke}});
    TRY(world.define(Value::object({{"name", "latency"}, {"triggers", Value::list({trigger})}})));
    TRY(world.start("latency", "latency"));
    auto source = TRY(load->open_source());
    auto counted = CountedSource{*source, load->partition(), latency_events, options};
    auto stop = std::stop_source{};
    auto fed = std::async(std::launch::async,
                          [&] { return world.engine().feed(counted, {}, stop.get_token()); });
    for (auto at = 0; at < latency_events; ++at) {
        auto begin = std::chrono::steady_clock::now();
        auto sent = send_and_wait(*producer,
                                  {.to = load->partition(),
                                   .key = fmt::format("ping/{}", at),
                                   .json = latency_event(static_cast<std::uint64_t>(at), "ping")});
        if (!sent) {
            stop.request_stop();
            return std::unexpected(sent.error());
        }
        auto call = world.noop().wait_for_call(std::chrono::seconds{10});
        if (!call) {
            stop.request_stop();
            return fail(Errc::Unavailable, "an event that was sent led to no call");
        }
        figures.latency_us.add(std::chrono::duration<double, std::micro>(*call - begin).count());
    }
    figures.events = TRY(fed.get());
    return {};
}

} // namespace sluice::app
