// What does an evaluation cost on 1 KB of data that is already parsed?
// tests/conformance/jsonata_reference.js asks npm's jsonata the same.

#include <string>

#include <benchmark/benchmark.h>

#include "expr/jsonata/expression.h"
#include "expr/testing/bindings.h"
#include "value/json.h"

namespace sluice::expr::jsonata {
namespace {

constexpr auto account = R"({"Account": {"Account Name": "Firefly", "Order": [
    {"OrderID": "order103", "Product": [
        {"Product Name": "Bowler Hat", "ProductID": 858383, "SKU": "0406654608", "Price": 34.45, "Quantity": 2,
         "Description": {"Colour": "Purple", "Width": 300, "Height": 200, "Depth": 210, "Weight": 0.75}},
        {"Product Name": "Trilby hat", "ProductID": 858236, "SKU": "0406634348", "Price": 21.67, "Quantity": 1,
         "Description": {"Colour": "Orange", "Width": 300, "Height": 200, "Depth": 210, "Weight": 0.6}}]},
    {"OrderID": "order104", "Product": [
        {"Product Name": "Bowler Hat", "ProductID": 858383, "SKU": "040657863", "Price": 34.45, "Quantity": 4,
         "Description": {"Colour": "Purple", "Width": 300, "Height": 200, "Depth": 210, "Weight": 0.75}},
        {"Product Name": "Cloak", "ProductID": 345664, "SKU": "0406654603", "Price": 107.99, "Quantity": 1,
         "Description": {"Colour": "Black", "Width": 30, "Height": 20, "Depth": 210, "Weight": 2.0}}]}]}})";

constexpr auto arguments = R"({
    "FunctionName": "arn:aws:lambda:eu-central-1:123456789012:function:charge",
    "Payload": {
        "customer": $states.input.Account.`Account Name`,
        "total": $sum($states.input.Account.Order.Product.(Price * Quantity)),
        "lines": $states.input.Account.Order.Product.{
            "sku": SKU, "text": `Product Name` & " x " & Quantity, "amount": $round(Price * Quantity, 2)},
        "isLarge": $count($states.input.Account.Order.Product) > 3 ? true : false,
        "orders": $join($states.input.Account.Order.OrderID, ", ")}})";

Value input() {
    return *value::parse_json(account);
}

void evaluate(benchmark::State& state, std::string_view text) {
    auto expression = Expression::compile(text);
    auto data = std::optional{input()};
    auto names =
        testing::MapBindings{Value::object({{"states", Value::object({{"input", *data}})}})};
    for (auto _ : state) {
        auto answer = expression->evaluate(data, names);
        if (!std::holds_alternative<Value>(answer)) {
            state.SkipWithError("no value");
        }
        benchmark::DoNotOptimize(answer);
    }
}

BENCHMARK_CAPTURE(evaluate, path, "Account.Order.Product.Price");
BENCHMARK_CAPTURE(evaluate, filter, "Account.Order.Product[Price > 30].Description");
BENCHMARK_CAPTURE(evaluate, grouping, "Account.Order.Product{`Product Name`: $sum(Price)}");
BENCHMARK_CAPTURE(evaluate, arguments, arguments);
BENCHMARK_CAPTURE(evaluate, sum_of_products, "$sum(Account.Order.Product.(Price * Quantity))");
BENCHMARK_CAPTURE(evaluate, order_by, "Account.Order.Product^(>Price).ProductID");
BENCHMARK_CAPTURE(evaluate, map_and_reduce,
                  "$reduce($map([1..100], function($x) { $x * 2 }), function($a, $b) { $a + $b })");
BENCHMARK_CAPTURE(evaluate, strings,
                  "$uppercase($substringBefore('hello world', ' ')) & $pad('x', 5) & "
                  "$replace('abcabc', /b/, 'X')");

void compile_arguments(benchmark::State& state) {
    for (auto _ : state) {
        benchmark::DoNotOptimize(Expression::compile(arguments));
    }
}
BENCHMARK(compile_arguments);

} // namespace
} // namespace sluice::expr::jsonata
