#include "sluice/bench/bench_ends.h"

#include <fmt/format.h>

namespace sluice::app {

namespace {

constexpr auto end_type = std::string_view{"bench.ended"};

} // namespace

Result<std::unique_ptr<StepEnds>> StepEnds::open(const BenchOptions& options, BenchWorld& world,
                                                 std::uint64_t count) {
    auto ends = std::unique_ptr<StepEnds>{new StepEnds{world}};
    if (!options.bus.empty()) {
        TRY(ends->open_bus(options, count));
    }
    return ends;
}

StepEnds::~StepEnds() {
    if (fed_.valid()) {
        stop_.request_stop();
        fed_.wait();
    }
    world_.noop().set_told(nullptr);
}

Result<void> StepEnds::open_bus(const BenchOptions& options, std::uint64_t count) {
    load_ = TRY(BusLoad::open(options.bus, 2, world_.diagnostics()));
    producer_ = TRY(load_->open_producer());
    source_ = TRY(load_->open_source());
    counted_ = std::make_unique<CountedSource>(*source_, load_->partition(), count, options);
    world_.noop().set_told([this](const event::Delivery& delivery) { tell(delivery); });
    fed_ = std::async(std::launch::async,
                      [this] { return world_.engine().feed(*counted_, {}, stop_.get_token()); });
    return {};
}

void StepEnds::tell(const event::Delivery& delivery) {
    auto id = told_.fetch_add(1);
    auto json = fmt::format(
        R"({{"specversion":"1.0","id":"{}","source":"bench","type":"{}","subject":"{}","run":"{}"}})",
        id, end_type, delivery.payload.as_string(), delivery.run);
    // What does not get there is missed: its run does not end.
    producer_->send(
        {.to = load_->partition(), .key = fmt::format("end/{}", id), .json = std::move(json)},
        [](const Result<void>&) {});
}

Value StepEnds::pattern(const std::string& subject) const {
    auto type = load_ ? end_type : std::string_view{"sluice.task.succeeded"};
    return Value::object({{"type", type}, {"subject", subject}});
}

Value StepEnds::invoke(const std::string& subject) const {
    auto call = Value::object({{"function", "noop"}, {"subject", subject}});
    return load_ ? call.with("input", subject) : call;
}

Result<void> StepEnds::measure(BenchFigures& figures) {
    if (load_) {
        load_->next();
        TRY(measure_round_trips(*load_, *producer_, figures.ceiling_round_trip_us));
    }
    return {};
}

} // namespace sluice::app
