#include "sluice/bench/bench_jsonata.h"

#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "expr/jsonata/expression.h"
#include "expr/map_bindings.h"
#include "sluice/bench/bench_measure.h"
#include "sluice/bench/bench_node.h"
#include "sluice/bench/bench_report.h"
#include "value/json.h"

namespace sluice::app {
namespace {

struct JsonataCase {
    std::string_view name;
    std::string_view text;
};

constexpr auto jsonata_cases = std::to_array<JsonataCase>({
    {"path", "customer.address.city"},
    {"filter", "items[price > 10].sku"},
    {"grouping", "items{category: $sum(price)}"},
    {"arguments",
     R"({"TableName": "orders", "Key": {"id": $states.input.id}, "Total": $sum($states.input.items.(price * quantity)),
        "Skus": $states.input.items.sku, "Label": "Order " & $states.input.id & " for " & $states.input.customer.name,
        "IsLarge": $states.input.total > 100 and $count($states.input.items) > 3})"},
});

/// Answers in the form of a report: a rate for each case and repetition.
constexpr auto node_script = std::string_view{R"js(
const job = JSON.parse(require('fs').readFileSync(process.argv[2], 'utf8'));
const jsonata = require('jsonata');
const bindings = {states: {input: job.document}};
async function rate(expression, seconds) {
    const begin = process.hrtime.bigint();
    let done = 0, elapsed = 0;
    while (elapsed < seconds) {
        for (let at = 0; at < 200; ++at) {
            await expression.evaluate(job.document, bindings);
        }
        done += 200;
        elapsed = Number(process.hrtime.bigint() - begin) / 1e9;
    }
    return done / elapsed;
}
(async () => {
    const answer = {version: require('jsonata/package.json').version, rates: []};
    for (const text of job.cases) {
        const expression = jsonata(text);
        await rate(expression, 0.5);
        const rates = [];
        for (let at = 0; at < job.repetitions; ++at) {
            rates.push(await rate(expression, 0.2));
        }
        answer.rates.push(rates);
    }
    console.log(JSON.stringify(answer));
})();
)js"};

Value node_job(const BenchOptions& options, const Value& document) {
    auto texts = std::vector<Value>{};
    for (const auto& each : jsonata_cases) {
        texts.emplace_back(each.text);
    }
    return Value::object({{"document", document},
                          {"cases", Value::list(std::move(texts))},
                          {"repetitions", static_cast<std::int64_t>(options.repetitions)}});
}

Result<Samples> measure_ours(const JsonataCase& one, const BenchOptions& options,
                             const Value& document) {
    auto expression = expr::jsonata::Expression::compile(one.text);
    if (!expression) {
        return fail(Errc::Internal, "JSONata {}: {}", one.name, expression.error().message);
    }
    // As the States Language binds it.
    auto states = Value::object({{"input", document}});
    auto bindings = expr::MapBindings{Value::object({{"states", states}})};
    auto input = std::optional{document};
    auto samples = Samples{};
    for (auto at = std::uint32_t{0}; at <= options.repetitions; ++at) {
        TRY(go_on(options));
        auto rate = TRY(measure_rate(one.name, [&] {
            return std::holds_alternative<Value>(expression->evaluate(input, bindings));
        }));
        if (at > 0) { // The first is the warm-up.
            samples.add(rate);
        }
    }
    return samples;
}

} // namespace

Result<std::vector<value::Member>> bench_jsonata(const BenchOptions& options,
                                                 const std::string& text) {
    auto document = TRY(value::parse_json(text));
    auto node = ask_node(node_script, node_job(options, document), options.npm);
    auto report = std::vector<value::Member>{
        {"npm_jsonata", node ? *node->find("version")
                             : Value{"not found: node with the package jsonata, "
                                     "by NODE_PATH or --npm DIR"}}};
    for (auto at = std::size_t{0}; at < jsonata_cases.size(); ++at) {
        auto name = fmt::format("jsonata_{}", jsonata_cases[at].name);
        auto ours = TRY(measure_ours(jsonata_cases[at], options, document));
        add_rate(report, name, ours);
        if (!node) {
            continue;
        }
        auto theirs = samples_of(node->find("rates")->as_list()[at]);
        add_rate(report, "npm_" + name, theirs);
        report.push_back({name + "_over_npm", rounded(ours.median() / theirs.median(), 100)});
    }
    return report;
}

} // namespace sluice::app
