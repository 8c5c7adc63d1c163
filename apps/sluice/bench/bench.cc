#include "sluice/bench/bench.h"

#include <array>
#include <cstdio>
#include <future>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/random.h"
#include "event/codec.h"
#include "sluice/bench/bench_asl.h"
#include "sluice/bench/bench_bus.h"
#include "sluice/bench/bench_ends.h"
#include "sluice/bench/bench_expr.h"
#include "sluice/bench/bench_report.h"
#include "sluice/bench/bench_world.h"
#include "trigger/spec.h"
#include "value/json.h"

namespace sluice::app {

namespace {

/// Text that repeats as much as people's does: history is stored compressed.
std::string words_of(std::size_t bytes, Random& random) {
    constexpr auto words = std::to_array<std::string_view>(
        {"order",  "total",    "customer", "paid",    "shipped",  "warehouse", "north",
         "south",  "pending",  "priority", "express", "invoice",  "amount",    "currency",
         "EUR",    "created",  "updated",  "status",  "returned", "gift",      "Lisbon",
         "Vienna", "tracking", "carrier",  "weight",  "17.50",    "209",       "4410"});
    auto text = std::string{};
    while (text.size() < bytes) {
        text += words[random.below(words.size())];
        text += ' ';
    }
    text.resize(bytes);
    return text;
}

/// The events of noop and join: each matches one of the chosen triggers, or none.
struct EventLoad {
    std::vector<std::uint64_t> chosen; ///< Triggers that get events.
    std::uint64_t events_each = 0;

    static EventLoad choose(const BenchOptions& options) {
        auto matching = options.matching != 0 ? options.matching
                                              : std::min<std::uint64_t>(options.triggers, 100);
        matching = std::min(matching, options.triggers);
        auto load = EventLoad{};
        auto random = Random{7};
        if (matching == options.triggers) {
            for (auto at = std::uint64_t{0}; at < matching; ++at) {
                load.chosen.push_back(at);
            }
        } else {
            // Distinct: one from each of as many equal stretches.
            auto stretch = options.triggers / matching;
            for (auto at = std::uint64_t{0}; at < matching; ++at) {
                load.chosen.push_back(at * stretch + random.below(stretch));
            }
        }
        load.events_each = std::max<std::uint64_t>(1, options.events / matching);
        return load;
    }

    std::uint64_t events() const { return chosen.size() * events_each; }

    /// One after the other, so that they take no memory where memory is measured.
    void each_line(const std::string& run, const std::string& type, std::size_t event_bytes,
                   const std::function<void(std::string)>& take) const {
        auto order = std::vector<std::uint64_t>{};
        for (auto trigger : chosen) {
            order.insert(order.end(), events_each, trigger);
        }
        auto random = Random{11};
        for (auto at = order.size(); at > 1; --at) {
            std::swap(order[at - 1], order[random.below(at)]);
        }
        for (auto at = std::size_t{0}; at < order.size(); ++at) {
            auto head = fmt::format(
                R"({{"specversion":"1.0","id":"{}","source":"bench","type":"{}","subject":"s{}","time":"2026-01-01T00:00:00Z","run":"{}","data":{{"fill":")",
                at, type, order[at], run);
            auto fill = event_bytes > head.size() + 3 ? event_bytes - head.size() - 3 : 0;
            take(head + words_of(fill, random) + "\"}}");
        }
    }

    std::vector<std::string> lines(const std::string& run, const std::string& type,
                                   std::size_t event_bytes) const {
        auto made = std::vector<std::string>{};
        made.reserve(events());
        each_line(run, type, event_bytes,
                  [&](std::string line) { made.push_back(std::move(line)); });
        return made;
    }
};

Value join_form(const BenchOptions& options, const EventLoad& load) {
    auto triggers = std::vector<Value>{};
    auto condition = Value::object({{"count", static_cast<std::int64_t>(load.events_each)}});
    for (auto at = std::uint64_t{0}; at < options.triggers; ++at) {
        auto on = Value::object({{"type", "join"}, {"subject", fmt::format("s{}", at)}});
        triggers.push_back(
            Value::object({{"id", fmt::format("t{}", at)}, {"on", on}, {"condition", condition}}));
    }
    return Value::object(
        {{"name", "join"}, {"unmatched", "drop"}, {"triggers", Value::list(std::move(triggers))}});
}

/// Parse, match and count the same events on one core, without a store.
double measure_pure(const LinesInMemory& lines, const trigger::TriggerSet& set) {
    auto codec = event::Codec{};
    auto counts = std::vector<std::uint64_t>(set.size());
    auto matches = trigger::Matches{};
    auto events = std::uint64_t{0};
    auto begin = std::chrono::steady_clock::now();
    for (const auto& chunk : lines.chunks()) {
        for (const auto& record : chunk.records) {
            auto text = std::string_view{*chunk.bytes}.substr(record.begin, record.size);
            auto event = codec.parse_shared(text, chunk.bytes);
            set.index().find(event->type(), event->subject(), matches);
            for (const auto& match : matches) {
                ++counts[match.trigger.raw()];
            }
            ++events;
        }
    }
    return static_cast<double>(events) / seconds_since(begin);
}

class EventsBench {
public:
    EventsBench(const BenchOptions& options, BenchWorld& world)
        : options_(options), world_(world), load_(EventLoad::choose(options)) {}

    Result<void> prepare() {
        auto form = join_form(options_, load_);
        TRY(world_.define(form));
        auto hash = TRY(world_.engine().catalog().find("default", "join"));
        set_ = TRY(world_.engine().catalog().set(hash));
        return {};
    }

    /// Events per second of one repetition; what fired is checked.
    Result<double> run(const std::string& type, BenchFigures& figures) {
        auto run = fmt::format("bench-{}-{}", ::getpid(), ++runs_);
        auto seconds = 0.0;
        TRY(world_.start(run, "join"));
        auto before = world_.engine().stats();
        auto fed = options_.bus.empty() ? TRY(feed_lines(run, type, seconds, figures))
                                        : TRY(feed_bus(run, type, seconds, figures));
        auto rate = static_cast<double>(fed) / seconds;
        auto after = world_.engine().stats();
        auto fired = after.fired - before.fired;
        auto expected = type == "join" ? load_.chosen.size() : 0;
        if (fed != load_.events() || fired != expected) {
            return fail(Errc::Internal, "{} events gave {} firings: expected {} and {}", fed, fired,
                        load_.events(), expected);
        }
        figures.events = fed;
        figures.fired = fired;
        figures.commits = std::max<std::uint64_t>(1, after.commits - before.commits);
        TRY(world_.remove(run)); // Its seen ids are no part of the next repetition's memory.
        return rate;
    }

    /// Two partitions for each time that events are fed: ours, and the ceiling's.
    Result<void> open_bus() {
        if (!options_.bus.empty()) {
            auto count = 2 * (1 + options_.repetitions + 2 * options_.pairs);
            bus_ = TRY(BusLoad::open(options_.bus, static_cast<std::uint16_t>(count),
                                     world_.diagnostics()));
        }
        return {};
    }

    /// Once before all else: warms up, and keeps what is committed for the store's ceiling.
    Result<void> rehearse(const std::string& type, BenchFigures& figures) {
        world_.store().begin_recording();
        std::ignore = TRY(run(type, figures));
        batches_ = world_.store().end_recording();
        return {};
    }

    Result<void> measure_ceilings(BenchFigures& figures) {
        auto run = std::string{"bench-0"};
        auto lines = LinesInMemory{run, load_.lines(run, "join", options_.event_bytes)};
        figures.ceiling_events_per_second.add(measure_pure(lines, *set_));
        auto seconds = TRY(commit_again(world_.store().bare(), batches_));
        figures.ceiling_store_events_per_second.add(static_cast<double>(figures.events) / seconds);
        auto bytes = std::size_t{0};
        for (const auto& batch : batches_) {
            bytes += batch.bytes;
        }
        figures.ceiling_sync_us.add(measure_sync_us(world_.path(), bytes / batches_.size(), 30));
        return {};
    }

private:
    Result<std::uint64_t> feed_lines(const std::string& run, const std::string& type,
                                     double& seconds, BenchFigures& figures) {
        auto source = LinesInMemory{"bench/" + run, load_.lines(run, type, options_.event_bytes)};
        auto begin = std::chrono::steady_clock::now();
        auto fed = TRY(feed(source, figures));
        seconds = seconds_since(begin);
        return fed;
    }

    Result<std::uint64_t> feed(event::Source& source, BenchFigures& figures) {
        auto before = cpu_seconds();
        auto fed = TRY(world_.engine().feed(source, {}));
        figures.cpu_us_per_event.add((cpu_seconds() - before) * 1e6 /
                                     static_cast<double>(load_.events()));
        return fed;
    }

    Result<std::uint64_t> feed_bus(const std::string& run, const std::string& type, double& seconds,
                                   BenchFigures& figures) {
        TRY(fill_bus(run, type));
        auto source = TRY(bus_->open_source());
        auto counted = CountedSource{*source, bus_->partition(), load_.events()};
        auto fed = TRY(feed(counted, figures));
        seconds = seconds_since(counted.began());
        figures.rss_bytes = std::max(figures.rss_bytes, resident_bytes());
        source.reset();
        bus_->next();
        TRY(fill_bus(run, type));
        auto ceiling = TRY(bus_->measure(load_.events()));
        bus_->next();
        figures.ceiling_group_events_per_second.add(ceiling.group_events_per_second);
        if (ceiling.position_events_per_second > 0) {
            figures.ceiling_position_events_per_second.add(ceiling.position_events_per_second);
        }
        return fed;
    }

    Result<void> fill_bus(const std::string& run, const std::string& type) {
        return bus_->fill([&](const std::function<void(std::string)>& take) {
            load_.each_line(run, type, options_.event_bytes, take);
        });
    }

    const BenchOptions& options_;
    BenchWorld& world_;
    EventLoad load_;
    std::unique_ptr<BusLoad> bus_; ///< Null: events come from memory.
    std::shared_ptr<const trigger::TriggerSet> set_;
    std::vector<RecordedBatch> batches_;
    std::uint64_t runs_ = 0;
};

Result<void> bench_events(const BenchOptions& options, BenchWorld& world, BenchFigures& figures) {
    auto bench = EventsBench{options, world};
    TRY(bench.prepare());
    TRY(bench.open_bus());
    auto type = options.workload == "join" ? std::string{"join"} : std::string{"nothing"};
    // What is written down takes memory, which is a figure where events come by a bus.
    auto has_store_ceiling = options.bus.empty() || !options.store.empty();
    if (has_store_ceiling) {
        TRY(bench.rehearse(type, figures));
    }
    for (auto at = std::uint32_t{0}; at < options.repetitions; ++at) {
        figures.events_per_second.add(TRY(bench.run(type, figures)));
        if (has_store_ceiling) {
            TRY(bench.measure_ceilings(figures));
        }
    }
    for (auto at = std::uint32_t{0}; at < options.pairs; ++at) {
        // Each is the first in turn: what the one before left behind is still being tidied up.
        auto is_noop_first = at % 2 == 0;
        auto first = TRY(bench.run(is_noop_first ? "nothing" : "join", figures));
        auto second = TRY(bench.run(is_noop_first ? "join" : "nothing", figures));
        figures.noop_over_join.add(is_noop_first ? first / second : second / first);
    }
    return {};
}

Value sequence_form(std::uint64_t length, const StepEnds& ends) {
    auto triggers = std::vector<Value>{};
    for (auto at = std::uint64_t{0}; at <= length; ++at) {
        auto on =
            at == 0 ? Value{"sluice.run.started"} : ends.pattern(fmt::format("step-{}", at - 1));
        auto invoke = Value::object({{"invoke", ends.invoke(fmt::format("step-{}", at))}});
        triggers.push_back(Value::object({{"id", fmt::format("step-{}", at)},
                                          {"on", on},
                                          {"action", at == length ? Value{"finish"} : invoke}}));
    }
    return Value::object({{"name", "sequence"}, {"triggers", Value::list(std::move(triggers))}});
}

Result<void> bench_sequence(const BenchOptions& options, BenchWorld& world, BenchFigures& figures) {
    auto ends = TRY(
        StepEnds::open(options, world, options.length * (options.repetitions + std::uint64_t{1})));
    TRY(world.define(sequence_form(options.length, *ends)));
    for (auto at = std::uint32_t{0}; at <= options.repetitions; ++at) {
        auto run = fmt::format("sequence-{}", at);
        world.noop().take_calls();
        auto before = world.engine().stats();
        auto begin = std::chrono::steady_clock::now();
        TRY(world.start(run, "sequence"));
        TRY(world.await(run));
        auto elapsed = seconds_since(begin);
        auto after = world.engine().stats();
        if (at == 0) {
            continue; // Warm-up.
        }
        auto calls = world.noop().take_calls();
        for (auto call = std::size_t{1}; call < calls.size(); ++call) {
            auto step = std::chrono::duration<double, std::micro>(calls[call] - calls[call - 1]);
            figures.step_us.add(step.count());
        }
        figures.elapsed_ms.add(elapsed * 1e3);
        figures.events = calls.size();
        figures.fired = after.fired - before.fired;
        figures.commits = after.commits - before.commits;
        auto bytes = (after.commit_bytes - before.commit_bytes) /
                     std::max<std::uint64_t>(1, figures.commits);
        figures.ceiling_sync_us.add(measure_sync_us(world.path(), bytes, 200));
    }
    return ends->measure(figures);
}

Value parallel_form(std::uint64_t width, const StepEnds& ends) {
    auto count = static_cast<std::int64_t>(width);
    auto invoke = ends.invoke("part").with("each", count);
    auto begin = Value::object({{"id", "begin"},
                                {"on", "sluice.run.started"},
                                {"action", Value::object({{"invoke", invoke}})}});
    auto end = Value::object({{"id", "joined"},
                              {"on", ends.pattern("part")},
                              {"condition", Value::object({{"count", count}})},
                              {"action", "finish"}});
    return Value::object({{"name", "parallel"}, {"triggers", Value::list({begin, end})}});
}

Result<void> bench_parallel(const BenchOptions& options, BenchWorld& world, BenchFigures& figures) {
    auto ends = TRY(
        StepEnds::open(options, world, options.width * (options.repetitions + std::uint64_t{1})));
    TRY(world.define(parallel_form(options.width, *ends)));
    for (auto at = std::uint32_t{0}; at <= options.repetitions; ++at) {
        auto run = fmt::format("parallel-{}", at);
        auto before = world.engine().stats();
        auto begin = std::chrono::steady_clock::now();
        TRY(world.start(run, "parallel"));
        TRY(world.await(run));
        auto elapsed = seconds_since(begin);
        auto after = world.engine().stats();
        figures.events = world.noop().take_calls().size();
        if (at == 0) {
            continue; // Warm-up.
        }
        figures.elapsed_ms.add(elapsed * 1e3);
        figures.fired = after.fired - before.fired;
        figures.commits = after.commits - before.commits;
        figures.ceiling_sync_us.add(measure_sync_us(world.path(), 64 * 1024, 50));
    }
    return ends->measure(figures);
}

/// Starts runs that wait, as many at a time as the window lets through.
Result<void> start_waiting(BenchWorld& world, std::uint64_t runs) {
    constexpr auto window = std::uint64_t{20'000};
    auto mutex = std::mutex{};
    auto changed = std::condition_variable{};
    auto under_way = std::uint64_t{0};
    auto error = std::optional<Error>{};
    for (auto at = std::uint64_t{0}; at < runs; ++at) {
        auto lock = std::unique_lock{mutex};
        changed.wait(lock, [&] { return under_way < window || error; });
        ++under_way;
        lock.unlock();
        world.engine().start({.id = fmt::format("wait-{}", at), .definition = "waiting"},
                             [&](Result<Value> result) {
                                 auto held = std::lock_guard{mutex};
                                 --under_way;
                                 if (!result) {
                                     error = result.error();
                                 }
                                 changed.notify_one();
                             });
    }
    auto lock = std::unique_lock{mutex};
    changed.wait(lock, [&] { return under_way == 0; });
    if (error) {
        return std::unexpected(*error);
    }
    return {};
}

Result<void> bench_waiting(const BenchOptions& options, BenchWorld& world, BenchFigures& figures) {
    auto trigger = Value::object({{"id", "go"}, {"on", "go"}, {"action", "finish"}});
    TRY(world.define(Value::object({{"name", "waiting"}, {"triggers", Value::list({trigger})}})));
    auto begin = std::chrono::steady_clock::now();
    TRY(start_waiting(world, options.runs));
    figures.elapsed_ms.add(seconds_since(begin) * 1e3);
    figures.events = options.runs;
    figures.rss_bytes = resident_bytes();
    world.close();
    begin = std::chrono::steady_clock::now();
    TRY(world.open());
    figures.restart_ms.add(seconds_since(begin) * 1e3);
    figures.rss_bytes = std::max(figures.rss_bytes, resident_bytes());
    return {};
}

Result<BenchFigures> run_workload(const BenchOptions& options) {
    auto world = TRY(BenchWorld::create(options));
    auto figures = BenchFigures{};
    if (options.workload == "noop" || options.workload == "join") {
        TRY(bench_events(options, *world, figures));
    } else if (options.workload == "sequence") {
        TRY(bench_sequence(options, *world, figures));
    } else if (options.workload == "parallel") {
        TRY(bench_parallel(options, *world, figures));
    } else if (options.workload == "waiting") {
        TRY(bench_waiting(options, *world, figures));
    } else if (options.workload == "latency") {
        TRY(bench_latency(options, *world, figures));
    } else {
        return fail(
            Errc::InvalidInput,
            "workload \"{}\": expected noop, join, sequence, parallel, waiting, latency, expr or "
            "asl",
            options.workload);
    }
    if (figures.rss_bytes == 0) {
        figures.rss_bytes = resident_bytes();
    }
    figures.disk_bytes = world->store().disk_bytes();
    return figures;
}

Result<Value> run_in_world(const BenchOptions& options) {
    auto figures = TRY(run_workload(options));
    return to_value(figures, options.workload, options.durability);
}

} // namespace

int bench(const BenchOptions& options) {
    auto report = options.workload == "expr"  ? bench_expressions(options)
                  : options.workload == "asl" ? bench_machines(options)
                                              : run_in_world(options);
    if (!report) {
        fmt::print(stderr, "sluice bench: {}\n", report.error().message);
        return report.error().code == Errc::InvalidInput ? 2 : 1;
    }
    fmt::print("{}\n", options.json ? value::to_json(*report) : to_table(*report));
    return 0;
}

} // namespace sluice::app
