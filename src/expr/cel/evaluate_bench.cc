// What does a condition cost on data that is parsed already, and what do its parts add?

#include <optional>
#include <string>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "expr/cel/compile.h"
#include "value/json.h"

namespace sluice::expr::cel {
namespace {

/// About 1 KB, with what is asked for in the middle.
Value sample_data() {
    auto text = std::string{"{"};
    for (auto at = 0; at < 30; ++at) {
        text += fmt::format(R"("member_{}":"some text {}",)", at, at * 7919);
        if (at == 15) {
            text += R"("total":120,"kind":"order","tags":["new","eu","late"],)";
        }
    }
    text.back() = '}';
    return *value::parse_json(text);
}

class DataBindings final : public Bindings {
public:
    std::optional<Value> resolve(std::span<const std::string_view> path) const override {
        const auto* found = &data_;
        for (auto part : path.subspan(1)) {
            found = found->find(part);
            if (found == nullptr) {
                return std::nullopt;
            }
        }
        return *found;
    }

private:
    Value data_ = sample_data();
};

void evaluate(benchmark::State& state, const char* text) {
    auto program = compile(text, {.names = {"data"}});
    auto bindings = DataBindings{};
    for (auto _ : state) {
        benchmark::DoNotOptimize(program->evaluate(bindings));
    }
    state.SetItemsProcessed(state.iterations());
}

BENCHMARK_CAPTURE(evaluate, condition, R"(data.total > 100 && data.kind == "order")");
BENCHMARK_CAPTURE(evaluate, constant, "true");
BENCHMARK_CAPTURE(evaluate, member, "data.total");
BENCHMARK_CAPTURE(evaluate, set,
                  "data.kind in ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'order']");
BENCHMARK_CAPTURE(evaluate, macro, "data.tags.exists(x, x.startsWith('la'))");
BENCHMARK_CAPTURE(evaluate, pattern, "data.kind.matches('^ord[a-z]+$')");
BENCHMARK_CAPTURE(evaluate, fault, "data.missing == 1");

} // namespace
} // namespace sluice::expr::cel
