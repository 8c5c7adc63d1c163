#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "expr/jsonata/expression.h"

namespace {

using sluice::Value;

/// Knows a value for every name.
class FuzzBindings final : public sluice::expr::Bindings {
public:
    std::optional<Value> resolve(std::span<const std::string_view> path) const override {
        return path.size() == 1 ? std::optional{Value::list({1, "x", 2.5})} : std::nullopt;
    }
};

Value fuzz_input() {
    auto row = [](int number) {
        return Value::object({{"a", number}, {"b", Value::list({"x", "y", Value{}})}, {"c", true}});
    };
    return Value::object(
        {{"rows", Value::list({row(1), row(2)})}, {"s", "2026-11-15"}, {"n", 2.5}});
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const auto input = std::optional{fuzz_input()};
    namespace jsonata = sluice::expr::jsonata;
    auto text = std::string_view{reinterpret_cast<const char*>(data), size};
    auto expression = jsonata::Expression::compile(text);
    if (expression) {
        auto budget = sluice::expr::Budget{.steps_max = 10'000, .memory_bytes_max = 16UL << 20U};
        auto first = expression->evaluate(input, FuzzBindings{}, budget, jsonata::Circumstances{});
        auto second = expression->evaluate(input, FuzzBindings{}, budget, jsonata::Circumstances{});
        if (first != second) {
            __builtin_trap();
        }
    }
    return 0;
}
