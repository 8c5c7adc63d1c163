#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/invariant.h"
#include "expr/cesql/expression.h"

namespace {

using sluice::Value;

/// Some attributes are there, of each kind; the rest is missing.
class SomeAttributes final : public sluice::expr::Bindings {
public:
    std::optional<Value> resolve(std::span<const std::string_view> path) const override {
        switch (path.front().size() % 4) {
            case 0: return std::nullopt;
            case 1: return Value{path.front()};
            case 2: return Value{-2147483647 - 1};
            default: return Value{true};
        }
    }
};

} // namespace

// CESQL is total: what is taken has a value of one of three kinds.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace sluice;
    auto text = std::string_view{reinterpret_cast<const char*>(bytes), size};
    auto expression = expr::cesql::Expression::compile(text);
    if (!expression) {
        INVARIANT(expression.error().position <= size, "a mistake is in the text");
        return 0;
    }
    auto answer = expression->evaluate(SomeAttributes{}, {.steps_max = 10'000});
    const auto& value = answer.value;
    INVARIANT(value.is_string() || value.is_int() || value.is_bool(), "there is always a value");
    auto types = expression->values_of("a");
    if (types && answer.passes()) {
        INVARIANT(std::ranges::find(*types, "a") != types->end(), "the value was told");
    }
    return 0;
}
