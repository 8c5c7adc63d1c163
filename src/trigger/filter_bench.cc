// What does a filter on an event's data cost from its bytes, beside simdjson reading the same two
// fields? What does an event cost as the filters with other constants grow?

#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <simdjson.h>

#include "event/builder.h"
#include "event/event_view.h"
#include "expr/cel/compile.h"
#include "trigger/trigger_set.h"
#include "value/json.h"

namespace sluice::trigger {
namespace {

/// About 1 KB, with what is asked for in the middle.
std::string data_text() {
    auto text = std::string{"{"};
    for (auto at = 0; at < 30; ++at) {
        text += fmt::format(R"("member_{}":"some text {}",)", at, at * 7919);
        if (at == 15) {
            text += R"("total":120,"kind":"order","tags":["new","eu","late"],)";
        }
    }
    text.back() = '}';
    return text;
}

event::Event sample_event() {
    auto made = event::Builder{"1", "bench", "order"};
    made.data(*value::parse_json(data_text()));
    return made.build();
}

class ViewBindings final : public expr::Bindings {
public:
    explicit ViewBindings(event::EventView& view) : view_(view) {}
    std::optional<Value> resolve(std::span<const std::string_view> path) const override {
        return view_.at(path);
    }

private:
    event::EventView& view_;
};

void filter_from_bytes(benchmark::State& state) {
    auto event = sample_event();
    auto program =
        expr::cel::compile(R"(data.total > 100 && data.kind == "order")", {.names = {"data"}});
    for (auto _ : state) {
        auto view = event::EventView{event};
        benchmark::DoNotOptimize(program->evaluate(ViewBindings{view}));
    }
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(filter_from_bytes);

void simdjson_alone(benchmark::State& state) {
    auto text = simdjson::padded_string{data_text()};
    auto parser = simdjson::ondemand::parser{};
    for (auto _ : state) {
        auto document = parser.iterate(text);
        auto total = std::int64_t{0};
        auto kind = std::string_view{};
        auto failed = document["total"].get(total) != simdjson::SUCCESS ||
                      document["kind"].get(kind) != simdjson::SUCCESS;
        benchmark::DoNotOptimize(!failed && total > 100 && kind == "order");
    }
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(simdjson_alone);

void find_among_filters(benchmark::State& state) {
    auto triggers = std::vector<Value>{};
    for (auto at = std::int64_t{0}; at < state.range(0); ++at) {
        triggers.push_back(Value::object({{"id", std::to_string(at)},
                                          {"on", "order"},
                                          {"filter", fmt::format("data.kind == 'kind {}'", at)}}));
    }
    triggers.push_back(
        Value::object({{"id", "it"}, {"on", "order"}, {"filter", "data.kind == 'order'"}}));
    auto problems = std::vector<Problem>{};
    auto spec =
        parse_set(Value::object({{"name", "t"}, {"triggers", Value::list(std::move(triggers))}}),
                  {}, problems);
    auto vocabulary = Vocabulary{};
    auto set = TriggerSet::compile(std::move(spec), vocabulary, problems);
    if (!set) {
        state.SkipWithError("the triggers do not compile");
        return;
    }
    auto event = sample_event();
    auto found = Matches{};
    for (auto _ : state) {
        auto view = event::EventView{event};
        set->find(view, found);
        benchmark::DoNotOptimize(found.size());
    }
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(find_among_filters)->Arg(10)->Arg(1000)->Arg(100'000);

} // namespace
} // namespace sluice::trigger
