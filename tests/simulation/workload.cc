#include "workload.h"

#include <array>
#include <functional>

#include <fmt/format.h>

namespace sluice::simulation {

namespace {

constexpr auto rounds = 4;
constexpr auto added_size = 5;

std::int64_t size_in(Random& random, std::uint64_t least, std::uint64_t most) {
    return static_cast<std::int64_t>(least + random.below(most - least + 1));
}

void send(RunPlan& plan, std::string_view type, std::int64_t count) {
    for (auto at = std::int64_t{0}; at < count; ++at) {
        plan.events.push_back(
            {.id = fmt::format("{}-{}", type, at), .type = std::string{type}, .key = at});
    }
}

/// A run whose input and result are one number `n`, with as many events.
RunPlan counted(const char* definition, std::int64_t n) {
    auto plan = RunPlan{.definition = definition};
    plan.input = Value::object({{"n", n}});
    plan.result = Value{n};
    return plan;
}

RunPlan join(Random& random) {
    auto plan = counted("join", size_in(random, 1, 12));
    send(plan, "item", plan.result.as_int());
    plan.fires = {{"joined", 1}};
    return plan;
}

RunPlan in_rounds(Random& random) {
    auto plan = counted("rounds", rounds);
    send(plan, "item", 3 * rounds);
    plan.fires = {{"round", rounds}, {"last", 1}};
    static_cast<void>(random);
    return plan;
}

RunPlan tasks(Random& random) {
    auto plan = RunPlan{.definition = "tasks"};
    plan.input = Value{size_in(random, 0, 1000)};
    plan.result = plan.input;
    plan.fires = {{"begin", 1}, {"second", 1}, {"third", 1}, {"end", 1}};
    return plan;
}

RunPlan fan(Random& random) {
    auto plan = counted("fan", size_in(random, 1, 20));
    plan.fires = {{"part", static_cast<std::uint64_t>(plan.result.as_int())}, {"all", 1}};
    return plan;
}

RunPlan race(Random& random) {
    auto plan = counted("race", size_in(random, 2, 10));
    plan.fires = {{"won", 1}, {"end", 1}};
    return plan;
}

RunPlan timers(Random& /*random*/) {
    auto plan = RunPlan{.definition = "timers"};
    plan.result = Value{"rang"};
    plan.fires = {{"ticks", 1}, {"end", 1}};
    return plan;
}

RunPlan nested(Random& random) {
    auto plan = counted(random.chance(0.7) ? "spread" : "nested", size_in(random, 1, 6));
    plan.fires = {{"all", 1}};
    return plan;
}

RunPlan held(Random& random) {
    auto plan = counted("held", size_in(random, 1, 8));
    send(plan, "item", plan.result.as_int());
    plan.fires = {{"answered", 1}, {"items", 1}};
    return plan;
}

RunPlan parked(Random& random) {
    auto plan = counted("parked", size_in(random, 1, 8));
    send(plan, "item", plan.result.as_int());
    send(plan, "open", 1);
    plan.fires = {{"gate", 1}, {"items", 1}};
    return plan;
}

RunPlan kept(Random& /*random*/) {
    auto plan = counted("kept", added_size);
    send(plan, "item", added_size);
    send(plan, "open", 1);
    plan.fires = {{"gate", 1}, {"added", 1}};
    return plan;
}

RunPlan slices(Random& random) {
    auto plan = counted("slices", size_in(random, 1, 40));
    plan.fires = {{"all", 1}};
    return plan;
}

RunPlan cancelled(Random& /*random*/) {
    auto plan = RunPlan{.definition = "patient", .is_cancelled = true};
    plan.status = trigger::Status::Cancelled;
    return plan;
}

RunPlan timed_out(Random& /*random*/) {
    auto plan = RunPlan{.definition = "hasty"};
    plan.status = trigger::Status::TimedOut;
    return plan;
}

/// One run that sends to another, which counts.
void add_pair(Random& random, std::vector<RunPlan>& plans) {
    auto receiver = counted("join", size_in(random, 1, 15));
    receiver.id = fmt::format("r{}", plans.size());
    receiver.fires = {{"joined", 1}};
    auto sender = counted("sender", receiver.result.as_int());
    sender.id = fmt::format("r{}", plans.size() + 1);
    sender.input = sender.input.with("to", receiver.id);
    sender.after = receiver.id;
    plans.push_back(std::move(receiver));
    plans.push_back(std::move(sender));
}

} // namespace

std::vector<std::string> definitions() {
    return {
        R"({"name":"join","triggers":[
            {"id":"begin","on":"sluice.run.started",
             "action":{"set":{"triggers":{"joined":{"n":"${run.input.n}"}}}}},
            {"id":"joined","on":"item","condition":{"count":{}},
             "action":{"finish":{"result":"${run.input.n}"}}}]})",
        fmt::format(R"({{"name":"rounds","context":{{"rounds":0}},"triggers":[
            {{"id":"round","on":"item","lifetime":"persistent",
             "condition":{{"count":{{"n":3,"distinct":"data.k"}}}},
             "action":[{{"set":{{"run":{{"rounds":"${{run.context.rounds + 1}}"}}}}}},{{"emit":"round"}}]}},
            {{"id":"last","on":"round","condition":{{"count":{}}},
             "action":{{"finish":{{"result":"${{run.context.rounds}}"}}}}}}]}})",
                    rounds),
        R"({"name":"tasks","triggers":[
            {"id":"begin","on":"sluice.run.started",
             "action":{"invoke":{"function":"flaky","input":"${run.input}","subject":"one"}}},
            {"id":"second","on":{"type":"sluice.task.succeeded","subject":"one"},
             "action":{"invoke":{"function":"work","input":"${data.result}","subject":"two"}}},
            {"id":"third","on":{"type":"sluice.task.succeeded","subject":"two"},
             "action":{"invoke":{"function":"flaky","input":"${data.result}","subject":"three",
                                 "retry":{"attempts":9,"interval":"20ms","backoff":1}}}},
            {"id":"end","on":{"type":"sluice.task.succeeded","subject":"three"},
             "action":{"finish":{"result":"${data.result}"}}}]})",
        R"({"name":"fan","triggers":[
            {"id":"begin","on":"sluice.run.started","action":[
                {"set":{"triggers":{"all":{"n":"${run.input.n}"}}}},
                {"invoke":{"function":"work","each":"${run.input.n}","input":"${index}",
                           "scope":"part/${index}","subject":"part"}}]},
            {"id":"part","on":{"type":"sluice.task.succeeded","subject":"part"},
             "action":[{"emit":{"type":"part.done","scope":"/"}},"close"]},
            {"id":"all","on":"part.done","condition":{"count":{}},
             "action":{"finish":{"result":"${run.input.n}"}}}]})",
        R"({"name":"race","triggers":[
            {"id":"begin","on":"sluice.run.started",
             "action":{"invoke":{"function":"work","each":"${run.input.n}","scope":"race/${index}","subject":"racer"}}},
            {"id":"racer","on":{"type":"sluice.task.succeeded","subject":"racer"},
             "action":{"emit":{"type":"arrived","scope":"/"}}},
            {"id":"won","on":"arrived","condition":{"count":2},
             "action":[{"close":"/race"},{"schedule":{"timer":"rest","after":"300ms"}}]},
            {"id":"end","on":{"type":"sluice.timer.fired","subject":"rest"},
             "action":{"finish":{"result":"${run.input.n}"}}}]})",
        R"({"name":"timers","triggers":[
            {"id":"begin","on":"sluice.run.started","action":[
                {"schedule":{"timer":"tick","every":"200ms","type":"tick"}},
                {"schedule":{"timer":"never","after":"100h"}},
                {"schedule":{"timer":"then","at":"${now + duration('2s')}","type":"then"}}]},
            {"id":"ticks","on":"tick","condition":{"count":3},"action":[{"cancel":"tick"},{"emit":"ticked"}]},
            {"id":"end","on":["ticked","then"],"condition":"all","action":{"finish":{"result":"rang"}}}]})",
        R"({"name":"child","triggers":[
            {"id":"begin","on":"sluice.run.started",
             "action":{"invoke":{"function":"work","input":"${run.input}"}}},
            {"id":"end","on":"sluice.task.succeeded","action":{"finish":{"result":"${data.result}"}}}]})",
        R"({"name":"nested","triggers":[
            {"id":"begin","on":"sluice.run.started","action":[
                {"set":{"triggers":{"all":{"n":"${run.input.n}"}}}},
                {"start":{"definition":"child","each":"${run.input.n}","input":"${index}"}}]},
            {"id":"all","on":"sluice.run.succeeded","condition":{"count":{"distinct":"data.run"}},
             "action":{"finish":{"result":"${run.input.n}"}}}]})",
        R"({"name":"spread","triggers":[
            {"id":"begin","on":"sluice.run.started","action":[
                {"set":{"triggers":{"all":{"n":"${run.input.n}"}}}},
                {"start":{"definition":"child","each":"${run.input.n}","input":"${index}","spread":true}}]},
            {"id":"all","on":"sluice.run.succeeded","condition":{"count":{"distinct":"data.run"}},
             "action":{"finish":{"result":"${run.input.n}"}}}]})",
        R"({"name":"held","triggers":[
            {"id":"begin","on":"sluice.run.started","action":[
                {"set":{"triggers":{"items":{"n":"${run.input.n}"}}}},"hold",{"invoke":"flaky"}]},
            {"id":"answered","on":"sluice.task.succeeded","action":"release"},
            {"id":"items","on":"item","condition":{"count":{}},
             "action":{"finish":{"result":"${run.input.n}"}}}]})",
        R"({"name":"parked","triggers":[
            {"id":"items","on":"item","enabled":false,"condition":{"count":{}},
             "action":{"finish":{"result":"${run.input.n}"}}},
            {"id":"gate","on":"open","action":[
                {"set":{"triggers":{"items":{"n":"${run.input.n}"}}}},{"enable":"items"}]}]})",
        fmt::format(R"({{"name":"kept","triggers":[
            {{"id":"gate","on":"open","action":{{"add":{{"id":"added","on":"item","condition":{{"count":{0}}},
             "action":{{"finish":{{"result":{0}}}}}}}}}}}]}})",
                    added_size),
        R"({"name":"slices","triggers":[
            {"id":"begin","on":"sluice.run.started","action":[
                {"set":{"triggers":{"all":{"n":"${run.input.n}"}}}},
                {"emit":{"type":"one","each":"${run.input.n}"}}]},
            {"id":"all","on":"one","condition":{"count":{}},
             "action":{"finish":{"result":"${run.input.n}"}}}]})",
        R"({"name":"sender","triggers":[
            {"id":"begin","on":"sluice.run.started","action":[
                {"set":{"triggers":{"all":{"n":"${run.input.n}"}}}},
                {"emit":{"type":"item","each":"${run.input.n}","to":{"run":"${run.input.to}"}}},
                {"emit":{"type":"sent","each":"${run.input.n}"}}]},
            {"id":"all","on":"sent","condition":{"count":{}},
             "action":{"finish":{"result":"${run.input.n}"}}}]})",
        R"({"name":"patient","triggers":[
            {"id":"begin","on":"sluice.run.started","action":[
                {"invoke":"flaky"},{"start":{"definition":"stuck","spread":true}}]},
            {"id":"answered","on":"sluice.task.succeeded"}]})",
        R"({"name":"stuck","triggers":[{"id":"never","on":"nothing"}]})",
        R"({"name":"hasty","timeout":"3s","triggers":[{"id":"never","on":"nothing"}]})",
    };
}

std::vector<RunPlan> draw_plans(Random& random) {
    using Make = RunPlan (*)(Random&);
    constexpr auto makes = std::array<Make, 13>{join,   in_rounds, tasks, fan,    race,      timers,   nested,
                                                held,   parked,    kept,  slices, cancelled, timed_out};
    auto plans = std::vector<RunPlan>{};
    auto count = 2 + random.below(5);
    for (auto at = std::uint64_t{0}; at < count; ++at) {
        if (random.chance(0.2)) {
            add_pair(random, plans);
            continue;
        }
        auto plan = makes[random.below(makes.size())](random);
        plan.id = fmt::format("r{}", plans.size());
        plans.push_back(std::move(plan));
    }
    return plans;
}

} // namespace sluice::simulation
