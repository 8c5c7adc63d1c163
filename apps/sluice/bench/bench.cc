#include "sluice/bench/bench.h"

#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include "sluice/bench/bench_asl.h"
#include "sluice/bench/bench_bus.h"
#include "sluice/bench/bench_ends.h"
#include "sluice/bench/bench_events.h"
#include "sluice/bench/bench_expr.h"
#include "sluice/bench/bench_report.h"
#include "sluice/bench/bench_world.h"
#include "value/json.h"

namespace sluice::app {

namespace {

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
Result<void> start_waiting(BenchWorld& world, const BenchOptions& options) {
    constexpr auto window = std::uint64_t{20'000};
    auto mutex = std::mutex{};
    auto changed = std::condition_variable{};
    auto under_way = std::uint64_t{0};
    auto error = std::optional<Error>{};
    for (auto at = std::uint64_t{0}; at < options.runs; ++at) {
        auto lock = std::unique_lock{mutex};
        changed.wait(lock, [&] { return under_way < window || error; });
        if (auto going = go_on(options); !going) {
            error = going.error();
        }
        if (error) {
            break;
        }
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
    TRY(start_waiting(world, options));
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

Result<void> go_on(const BenchOptions& options) {
    if (options.interrupts != nullptr && options.interrupts->has_come()) {
        return fail(Errc::Unavailable, "interrupted");
    }
    return {};
}

ExitCode bench(BenchOptions options) {
    auto bell = Bell{};
    auto interrupts = Interrupts{bell};
    options.interrupts = &interrupts;
    auto report = options.workload == "expr"  ? bench_expressions(options)
                  : options.workload == "asl" ? bench_machines(options)
                                              : run_in_world(options);
    if (!report) {
        fmt::print(stderr, "sluice bench: {}\n", report.error().message);
        return interrupts.has_come() ? ExitCode::Interrupted : exit_code_of(report.error());
    }
    fmt::print("{}\n", options.json ? value::to_json(*report) : to_table(*report));
    return ExitCode::Ok;
}

} // namespace sluice::app
