#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "expr/cel/compile.h"
#include "expr/cel/constraints.h"
#include "expr/cel/typed.h"

namespace {

using sluice::Value;

/// Answers every question, with a kind that depends on the path.
class AnyBindings final : public sluice::expr::Bindings {
public:
    std::optional<Value> resolve(std::span<const std::string_view> path) const override {
        switch (path.size() % 5) {
            case 0: return std::nullopt;
            case 1: return Value::object({{"a", 1}, {"b", Value::list({1, "x"})}});
            case 2: return Value{static_cast<std::int64_t>(path.back().size())};
            case 3: return Value{path.back()};
            default: return Value{0.5};
        }
    }
};

/// Without the checks of compiling, by names that are looked for in a container.
void check_typed(std::string_view text) {
    auto bindings = Value::object({{"event", Value::object({{"a", 1}})}, {"run", "x"}});
    for (auto is_typed : {false, true}) {
        sluice::expr::cel::evaluate_case({.text = text, .bindings = bindings, .container = "a.b"},
                                         {.steps_max = 10'000}, is_typed);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    auto text = std::string_view{reinterpret_cast<const char*>(data), size};
    auto program = sluice::expr::cel::compile(text, {.names = {"event", "run"}});
    if (program) {
        auto first = program->evaluate(AnyBindings{}, {.steps_max = 10'000});
        auto second = program->evaluate(AnyBindings{}, {.steps_max = 10'000});
        if (first.index() != second.index()) {
            __builtin_trap();
        }
        sluice::expr::cel::constraints_of(*program);
    } else if (program.error().position > size) {
        __builtin_trap();
    }
    check_typed(text);
    return 0;
}
