#pragma once

#include <atomic>
#include <future>
#include <memory>
#include <stop_token>
#include <string>

#include "sluice/bench/bench_bus.h"

namespace sluice::app {

/// How the steps of a bench hear that the function of the one before has ended: by the answer to
/// the call, or, where there is a bus, by an event that the function puts there, as functions do
/// that run elsewhere.
class StepEnds {
public:
    /// So many ends are heard of in all. Unhooks itself in the end; the world outlives it.
    static Result<std::unique_ptr<StepEnds>> open(const BenchOptions& options, BenchWorld& world,
                                                  std::uint64_t count);
    ~StepEnds();

    /// The pattern of the end of what was called with this subject.
    Value pattern(const std::string& subject) const;
    /// What calls the function `noop`, with this subject.
    Value invoke(const std::string& subject) const;
    /// An event from its sender to a bare reader, one at a time; nothing where there is no bus.
    Result<void> measure(BenchFigures& figures);

private:
    explicit StepEnds(BenchWorld& world) : world_(world) {}
    Result<void> open_bus(const BenchOptions& options, std::uint64_t count);
    void tell(const event::Delivery& delivery);

    BenchWorld& world_;
    std::unique_ptr<BusLoad> load_; ///< Null: there is no bus.
    std::unique_ptr<event::Producer> producer_;
    std::unique_ptr<event::Source> source_;
    std::unique_ptr<CountedSource> counted_;
    std::atomic<std::uint64_t> told_ = 0;
    std::stop_source stop_;
    std::future<Result<std::uint64_t>> fed_;
};

} // namespace sluice::app
