#include "sluice/bench/bench_expr.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <simdjson.h>

#include "event/codec.h"
#include "event/dialect/event_bindings.h"
#include "expr/cel/compile.h"
#include "expr/map_bindings.h"
#include "sluice/bench/bench_jsonata.h"
#include "sluice/bench/bench_measure.h"
#include "sluice/bench/bench_report.h"
#include "value/json.h"

namespace sluice::app {
namespace {

constexpr auto condition = std::string_view{R"(data.total > 100 && data.kind == "order")"};

/// About 1 KB, the two fields neither first nor last.
std::string order_json() {
    auto items = std::string{};
    for (auto item = 0; item < 9; ++item) {
        items +=
            fmt::format(R"({}{{"sku":"item-{:04}","price":{}.5,"quantity":{},"category":"{}"}})",
                        item == 0 ? "" : ",", item * 37, 4 + item * 3, 1 + item % 4,
                        item % 2 == 0 ? "office" : "home");
    }
    return fmt::format(
        R"({{"id":"order-000017","customer":{{"name":"Ada Example","address":{{"street":"1 Long Street","city":"Vienna","zip":"1010"}}}},"total":120,"kind":"order","currency":"EUR","note":"{}","items":[{}]}})",
        std::string(200, 'n'), items);
}

bool is_true(const expr::Outcome& outcome) {
    const auto* value = std::get_if<Value>(&outcome);
    return value != nullptr && value->is_bool() && value->as_bool();
}

/// What the condition needs, and nothing else: on demand, in one pass.
bool read_bare(simdjson::ondemand::parser& parser, const simdjson::padded_string& json) {
    auto document = parser.iterate(json);
    auto total = std::int64_t{0};
    auto kind = std::string_view{};
    return document["total"].get(total) == simdjson::SUCCESS &&
           document["kind"].get(kind) == simdjson::SUCCESS && total > 100 && kind == "order";
}

struct CelFigures {
    Samples parsed;
    Samples bytes;
    Samples bare;
};

Result<CelFigures> measure_cel(const BenchOptions& options) {
    auto program = expr::cel::compile(condition, {.names = {"data"}, .must_be_bool = true});
    if (!program) {
        return fail(Errc::Internal, "{}", describe(program.error()));
    }
    auto json = order_json();
    auto bindings = expr::MapBindings{Value::object({{"data", TRY(value::parse_json(json))}})};
    auto event = TRY(event::Codec{}.parse(
        R"({"specversion":"1.0","id":"1","source":"/bench","type":"order","data":)" + json + "}"));
    auto padded = simdjson::padded_string{json};
    auto parser = simdjson::ondemand::parser{};
    auto figures = CelFigures{};
    for (auto at = std::uint32_t{0}; at <= options.repetitions; ++at) {
        TRY(go_on(options));
        auto parsed = TRY(
            measure_rate("CEL on a value", [&] { return is_true(program->evaluate(bindings)); }));
        auto bytes = TRY(measure_rate("CEL on bytes", [&] {
            return is_true(program->evaluate(event::EventBindings{event}));
        }));
        auto bare = TRY(measure_rate("simdjson", [&] { return read_bare(parser, padded); }));
        if (at == 0) {
            continue; // Warm-up.
        }
        figures.parsed.add(parsed);
        figures.bytes.add(bytes);
        figures.bare.add(bare);
    }
    return figures;
}

} // namespace

Result<Value> bench_expressions(const BenchOptions& options) {
    auto cel = TRY(measure_cel(options));
    auto report =
        std::vector<value::Member>{{"workload", "expr"},
                                   {"data_bytes", static_cast<std::int64_t>(order_json().size())},
                                   {"repetitions", static_cast<std::int64_t>(options.repetitions)}};
    add_rate(report, "cel_parsed", cel.parsed);
    add_rate(report, "cel_bytes", cel.bytes);
    add_rate(report, "ceiling_simdjson", cel.bare);
    report.push_back(
        {"cel_bytes_over_simdjson", rounded(cel.bytes.median() / cel.bare.median(), 100)});
    for (auto& member : TRY(bench_jsonata(options, order_json()))) {
        report.push_back(std::move(member));
    }
    return Value::map(std::move(report));
}

} // namespace sluice::app
