#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "expr/cel/template.h"

namespace {

using sluice::Value;

class OneName final : public sluice::expr::Bindings {
public:
    std::optional<Value> resolve(std::span<const std::string_view> path) const override {
        return path.size() == 1 ? std::optional{Value::object({{"a", "text"}})} : std::nullopt;
    }
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    auto text = std::string_view{reinterpret_cast<const char*>(data), size};
    auto pattern = Value::object({{"a", text}, {"b", Value::list({text, 1})}});
    auto compiled = sluice::expr::cel::Template::compile(pattern, {.names = {"event"}});
    if (!compiled) {
        return 0;
    }
    auto outcome = compiled->evaluate(OneName{}, {.steps_max = 10'000});
    auto is_whole = !text.contains("${");
    if (is_whole && (!compiled->is_constant() || std::get<Value>(outcome) != pattern)) {
        __builtin_trap();
    }
    return 0;
}
