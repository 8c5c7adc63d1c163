#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "event/bus.h"
#include "observe/diagnostics.h"
#include "sluice/bench/bench.h"
#include "sluice/bench/bench_report.h"
#include "sluice/bench/bench_world.h"

namespace sluice::app {

/// One partition of a bus, which ends behind so many events.
class CountedSource final : public event::Source {
public:
    /// Source and options outlive it.
    CountedSource(event::Source& source, std::string partition, std::uint64_t events,
                  const BenchOptions& options)
        : source_(source), partition_(std::move(partition)), left_(events), options_(options) {}

    std::string_view name() const override { return partition_; }
    Result<std::vector<std::string>> partitions() override { return std::vector{partition_}; }
    Result<void> resume(std::string_view partition, std::uint64_t position) override {
        return source_.resume(partition, position);
    }
    Result<event::Chunk> read(std::size_t bytes_max, Nanos wait) override;
    void confirm(std::string_view partition, std::uint64_t position) override {
        source_.confirm(partition, position);
    }
    /// When the first events came: what is measured begins there, as a ceiling does.
    SteadyTime began() const { return began_; }

private:
    event::Source& source_;
    std::string partition_;
    std::uint64_t left_;
    const BenchOptions& options_;
    SteadyTime began_{};
};

/// Partitions of a bus that a bench fills, each used once, and removes in the end.
class BusLoad {
public:
    /// The diagnostics outlive it.
    static Result<std::unique_ptr<BusLoad>> open(const std::string& url, std::uint16_t partitions,
                                                 observe::Diagnostics& diagnostics);
    ~BusLoad();

    /// Puts events into the next partition, which is the one that the others mean from now on.
    Result<void> fill(const std::function<void(const std::function<void(std::string)>&)>& lines);
    /// Reads the partition again and again for some seconds, or as much of it as is given without
    /// being acknowledged. A broker in Java is compiled while it runs, and quorum queues tidy up
    /// behind their senders: whoever is measured first would pay for that.
    Result<void> warm_up(std::uint64_t events, const BenchOptions& options);
    std::string partition() const { return bus_->partition(at_); }
    std::uint64_t number() const { return at_.raw(); }
    Result<std::unique_ptr<event::Source>> open_source() { return bus_->open_source(); }
    Result<std::unique_ptr<event::Producer>> open_producer() { return bus_->open_producer(); }
    Result<event::Ceiling> measure(std::uint64_t events);
    void go_to(std::uint64_t partition) { at_ = ShardId{static_cast<std::uint16_t>(partition)}; }
    void next() { at_ = ShardId{static_cast<std::uint16_t>(at_.raw() + 1)}; }

private:
    BusLoad(std::unique_ptr<event::Bus> bus, std::uint16_t partitions)
        : bus_(std::move(bus)), partitions_(partitions) {}

    std::unique_ptr<event::Bus> bus_;
    std::uint16_t partitions_;
    ShardId at_{0};
};

/// From the sender to a bare reader of the partition, who waits for it: microseconds, one by one.
Result<void> measure_round_trips(BusLoad& load, event::Producer& producer, Samples& samples);

/// How long an event takes from its sender to the call that it leads to, one at a time, beside how
/// long it takes to a bare reader.
Result<void> bench_latency(const BenchOptions& options, BenchWorld& world, BenchFigures& figures);

} // namespace sluice::app
