#include "engine/internal/function_limits.h"

#include <utility>
#include <variant>

#include "expr/cel/compile.h"
#include "expr/map_bindings.h"
#include "value/amount_text.h"
#include "value/json.h"

namespace sluice::engine {

namespace {

Rate rate_in(const Value& map, Rate otherwise) {
    auto rate = otherwise;
    if (const auto* written = map.find("rate")) {
        rate.per_second = value::parse_rate(*written).value_or(otherwise.per_second);
    }
    if (const auto* burst = map.find("burst"); burst != nullptr && burst->is_int()) {
        rate.burst = static_cast<double>(burst->as_int());
    }
    return rate;
}

} // namespace

Result<expr::Program> compile_limit_key(std::string_view text) {
    auto program = expr::cel::compile(text, {.names = {"input"}});
    if (!program) {
        return fail(Errc::InvalidInput, "{}", expr::describe(program.error()));
    }
    return *std::move(program);
}

std::int32_t priority_of(const Value& policy, const FunctionLimits& limits) {
    const auto* own = policy.find("priority");
    return own != nullptr && own->is_int() ? static_cast<std::int32_t>(own->as_int())
                                           : limits.priority;
}

void apply_limits(const Value& policy, FunctionLimits& limits) {
    limits.rate = rate_in(policy, limits.rate);
    limits.priority = priority_of(policy, limits);
    const auto* per_key = policy.find("per_key");
    if (per_key == nullptr || !per_key->is_map()) {
        return;
    }
    if (const auto* key = per_key->find("key"); key != nullptr && key->is_string()) {
        if (auto program = compile_limit_key(key->as_string())) {
            limits.key = *std::move(program);
        }
    }
    if (const auto* most = per_key->find("concurrency"); most != nullptr && most->is_int()) {
        limits.key_concurrency = static_cast<std::uint32_t>(most->as_int());
    }
    limits.key_rate = rate_in(*per_key, limits.key_rate);
}

std::string limit_key_of(const FunctionLimits& limits, const Value& input) {
    if (!limits.key) {
        return {};
    }
    auto outcome = limits.key->evaluate(expr::MapBindings{Value::object({{"input", input}})});
    const auto* key = std::get_if<Value>(&outcome);
    return key == nullptr ? std::string{} : value::to_json(*key);
}

} // namespace sluice::engine
