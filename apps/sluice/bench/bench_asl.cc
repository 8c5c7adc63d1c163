#include "sluice/bench/bench_asl.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <semaphore>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/invariant.h"
#include "sluice/bench/bench_measure.h"
#include "sluice/bench/bench_node.h"
#include "sluice/bench/bench_report.h"
#include "sluice/bench/bench_world.h"
#include "value/json.h"
#include "workflow/asl/compile.h"

namespace sluice::app {
namespace {

constexpr auto chain_length = 10;
constexpr auto map_items = std::int64_t{10'000};
constexpr auto in_flight = std::ptrdiff_t{1'000};

/// A machine, its input, and how much is done at a repetition.
struct MachineCase {
    std::string name;
    Value definition;
    Value input;
    std::uint64_t executions = 0; ///< Ours.
    std::uint64_t npm_executions = 0;
    std::ptrdiff_t at_once = in_flight; ///< Of ours under way.
    std::int64_t units = 1;             ///< That are counted of each execution.
    std::string unit = "executions";
};

/// Pass states one behind the other.
Value chain(const Value& state) {
    auto states = std::vector<value::Member>{};
    for (auto at = 1; at <= chain_length; ++at) {
        auto next = at < chain_length ? state.with("Next", fmt::format("Pass{}", at + 1))
                                      : state.with("End", true);
        states.push_back({fmt::format("Pass{}", at), std::move(next)});
    }
    return Value::object({{"StartAt", "Pass1"}, {"States", Value::map(std::move(states))}});
}

std::vector<MachineCase> machine_cases() {
    auto pass = Value::object({{"Type", "Pass"}});
    auto template_form =
        Value::object({{"id.$", "$.id"},
                       {"name.$", "$.name"},
                       {"text.$", "States.Format('Order {} of {}', $.id, $.name)"}});
    auto order = Value::object({{"id", 17}, {"name", "Ada"}, {"text", ""}});
    auto items = std::vector<Value>{};
    for (auto at = std::int64_t{0}; at < map_items; ++at) {
        items.push_back(Value::object({{"id", at}}));
    }
    auto processor = Value::object(
        {{"StartAt", "Item"}, {"States", Value::object({{"Item", pass.with("End", true)}})}});
    auto map = Value::object(
        {{"StartAt", "Each"},
         {"States", Value::object({{"Each", Value::object({{"Type", "Map"},
                                                           {"ItemsPath", "$.items"},
                                                           {"ItemProcessor", processor},
                                                           {"End", true}})}})}});
    return {{.name = "chain",
             .definition = chain(pass),
             .input = order,
             .executions = 20'000,
             .npm_executions = 20'000},
            {.name = "format",
             .definition = chain(pass.with("Parameters", template_form)),
             .input = order,
             .executions = 20'000,
             .npm_executions = 1'000},
            {.name = "map",
             .definition = map,
             .input = Value::object({{"items", Value::list(std::move(items))}}),
             .executions = 2,
             .npm_executions = 2,
             .at_once = 1,
             .units = map_items,
             .unit = "items"}};
}

/// One after the other, as this package is quickest.
constexpr auto npm_script = std::string_view{R"js(
const { StateMachine } = require('aws-local-stepfunctions');
const job = JSON.parse(require('fs').readFileSync(process.argv[2], 'utf8'));
(async () => {
    const answer = { rates: [], rss: [] };
    for (const one of job.cases) {
        const machine = new StateMachine(one.definition);
        const rates = [];
        for (let at = 0; at <= job.repetitions; ++at) {
            const begin = process.hrtime.bigint();
            for (let done = 0; done < one.executions; ++done) {
                await machine.run(one.input).result;
            }
            rates.push(one.executions * one.units / (Number(process.hrtime.bigint() - begin) / 1e9));
        }
        answer.rates.push(rates.slice(1));
        answer.rss.push(process.memoryUsage().rss);
    }
    console.log(JSON.stringify(answer));
})();
)js"};

Value npm_job(const BenchOptions& options, const std::vector<MachineCase>& cases) {
    auto jobs = std::vector<Value>{};
    for (const auto& one : cases) {
        jobs.push_back(Value::object({{"definition", one.definition},
                                      {"input", one.input},
                                      {"executions", static_cast<std::int64_t>(one.npm_executions)},
                                      {"units", one.units}}));
    }
    return Value::object({{"cases", Value::list(std::move(jobs))},
                          {"repetitions", static_cast<std::int64_t>(options.repetitions)}});
}

/// Executions, a thousand of them under way at a time.
class MachineRuns {
public:
    explicit MachineRuns(BenchWorld& world) : world_(world) {}

    /// So many a second.
    Result<double> run(const MachineCase& one, std::uint64_t executions) {
        auto places = std::counting_semaphore<in_flight>{one.at_once};
        auto failure = std::atomic<bool>{false};
        // Each execution has an input of its own, as from callers of whom nobody knows another.
        auto text = value::to_json(one.input);
        auto begin = std::chrono::steady_clock::now();
        for (auto at = std::uint64_t{0}; at < executions; ++at) {
            places.acquire();
            auto input = value::parse_json(text);
            INVARIANT(input.has_value(), "what was written as JSON is JSON");
            auto ended = [&](const Result<Value>& ending) {
                const auto* status = ending ? ending->find("status") : nullptr;
                if (status == nullptr || *status != Value{"succeeded"}) {
                    failure = true;
                }
                places.release();
            };
            world_.engine().run({.id = fmt::format("{}-{}", one.name, ++last_),
                                 .definition = one.name,
                                 .input = *std::move(input)},
                                {}, std::move(ended));
        }
        for (auto at = std::ptrdiff_t{0}; at < one.at_once; ++at) {
            places.acquire();
        }
        auto seconds = seconds_since(begin);
        if (failure) {
            return fail(Errc::Internal, "an execution of {} did not succeed", one.name);
        }
        return static_cast<double>(executions) * static_cast<double>(one.units) / seconds;
    }

private:
    BenchWorld& world_;
    std::uint64_t last_ = 0;
};

struct MachineFigures {
    Samples rates;
    std::uint64_t rss_bytes = 0;
};

Result<MachineFigures> measure_machine(const MachineCase& one, BenchOptions options,
                                       std::string_view durability) {
    options.durability = durability;
    if (options.threads == 0) {
        options.threads = std::max(std::thread::hardware_concurrency(), 1U);
    }
    auto world = TRY(BenchWorld::create(options));
    // A map of 10,000 items has more events than a standard execution may.
    auto compiled =
        workflow::asl::compile(one.definition, {.name = one.name, .is_express = one.units > 1});
    TRY(world->define(compiled.form));
    auto runs = MachineRuns{*world};
    auto figures = MachineFigures{};
    TRY(runs.run(one, std::max<std::uint64_t>(1, one.executions / 10))); // Warm-up.
    for (auto at = std::uint32_t{0}; at < options.repetitions; ++at) {
        TRY(go_on(options));
        figures.rates.add(TRY(runs.run(one, one.executions)));
        figures.rss_bytes = std::max(figures.rss_bytes, resident_bytes());
    }
    return figures;
}

} // namespace

Result<Value> bench_machines(const BenchOptions& options) {
    auto cases = machine_cases();
    auto npm = ask_node(npm_script, npm_job(options, cases), options.npm);
    auto report =
        std::vector<value::Member>{{"workload", "asl"},
                                   {"repetitions", static_cast<std::int64_t>(options.repetitions)},
                                   {"in_flight", std::int64_t{in_flight}}};
    if (!npm) {
        report.push_back({"npm",
                          "not found: node with the package aws-local-stepfunctions, by "
                          "NODE_PATH or --npm DIR"});
    }
    // The largest first: what the others leave resident would count for it.
    for (auto at = cases.size(); at-- > 0;) {
        const auto& one = cases[at];
        auto ours = TRY(measure_machine(one, options, "memory"));
        auto name = fmt::format("{}_{}", one.name, one.unit);
        add_rate(report, name, ours.rates);
        report.push_back({one.name + "_rss_bytes", static_cast<std::int64_t>(ours.rss_bytes)});
        if (npm) {
            auto theirs = samples_of(npm->find("rates")->as_list()[at]);
            add_rate(report, "npm_" + name, theirs);
            report.push_back({"npm_" + one.name + "_rss_bytes", npm->find("rss")->as_list()[at]});
            report.push_back(
                {name + "_over_npm", rounded(ours.rates.median() / theirs.median(), 100)});
        }
    }
    auto strict = TRY(measure_machine(cases.front(), options, "strict"));
    add_rate(report, "chain_strict_executions", strict.rates);
    return Value::map(std::move(report));
}

} // namespace sluice::app
