// What does a field of a state cost, compiled once and evaluated for each execution?

#include <string_view>

#include <benchmark/benchmark.h>

#include "expr/states/choice.h"
#include "expr/states/selector.h"
#include "expr/states/template.h"
#include "expr/states/testing/scene.h"
#include "value/json.h"

namespace sluice::expr::states {
namespace {

const auto bench_scene =
    testing::Scene{R"({"order": {"id": "o-1234", "total": 99.5, "lines": [{"n": 1}, {"n": 2}]},
                       "customer": {"name": "Ada Lovelace"}, "count": 3})",
                   R"({"Execution": {"Name": "run-1"}})", R"({"limit": 10})"};

void fill(benchmark::State& state, std::string_view form, Language language) {
    auto made = Template::compile(value::parse_json(form).value(), {.language = language}).value();
    auto sight = bench_scene.sight();
    for (auto _ : state) {
        auto value = made.evaluate(sight, "Parameters");
        benchmark::DoNotOptimize(value);
    }
}
BENCHMARK_CAPTURE(fill, constant, R"({"a": {"b": [1, 2, 3]}})", Language::JsonPath);
BENCHMARK_CAPTURE(fill, one_path, R"({"id.$": "$.order.id"})", Language::JsonPath);
BENCHMARK_CAPTURE(fill, path_and_format,
                  R"({"id.$": "$.order.id", "text.$": )"
                  R"form("States.Format('Order {} of {}', $.order.id, $.customer.name)"})form",
                  Language::JsonPath);
BENCHMARK_CAPTURE(fill, five_paths,
                  R"({"id.$": "$.order.id", "total.$": "$.order.total", "name.$": "$.customer.name",
                      "run.$": "$$.Execution.Name", "limit.$": "$limit"})",
                  Language::JsonPath);
BENCHMARK_CAPTURE(fill, math_add, R"form({"count.$": "States.MathAdd($.count, 1)"})form",
                  Language::JsonPath);
BENCHMARK_CAPTURE(fill, wildcard, R"({"n.$": "$.order.lines[*].n"})", Language::JsonPath);
BENCHMARK_CAPTURE(fill, jsonata_path, R"({"id": "{% $states.input.order.id %}"})",
                  Language::Jsonata);
BENCHMARK_CAPTURE(fill, jsonata_sum, R"({"n": "{% $sum($states.input.order.lines.n) + $limit %}"})",
                  Language::Jsonata);

void select(benchmark::State& state, std::string_view text) {
    auto selector = Selector::compile(text, Selector::Kind::Path).value();
    auto sight = bench_scene.sight();
    for (auto _ : state) {
        auto value = selector.read(sight);
        benchmark::DoNotOptimize(value);
    }
}
BENCHMARK_CAPTURE(select, everything, "$");
BENCHMARK_CAPTURE(select, member, "$.order.lines[1].n");
BENCHMARK_CAPTURE(select, variable, "$limit");

void choose(benchmark::State& state, std::string_view rule, Language language) {
    auto condition = Condition::compile(value::parse_json(rule).value(), language).value();
    auto sight = bench_scene.sight();
    for (auto _ : state) {
        auto verdict = condition.holds(sight, 0);
        benchmark::DoNotOptimize(verdict);
    }
}
BENCHMARK_CAPTURE(choose, number, R"({"Variable": "$.count", "NumericLessThan": 10})",
                  Language::JsonPath);
BENCHMARK_CAPTURE(choose, both, R"({"And": [{"Variable": "$.count", "NumericLessThan": 10},
                  {"Variable": "$.order.id", "StringMatches": "o-*"}]})",
                  Language::JsonPath);
BENCHMARK_CAPTURE(choose, jsonata, R"({"Condition": "{% $states.input.count < 10 %}"})",
                  Language::Jsonata);

} // namespace
} // namespace sluice::expr::states
