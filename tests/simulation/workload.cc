#include "workload.h"

#include <array>
#include <functional>

#include <fmt/format.h>

namespace sluice::simulation {

namespace {

constexpr auto rounds = 4; // As in definitions.cc.
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

RunPlan timers(Random& random) {
    auto plan = RunPlan{.definition = "timers"};
    // Virtual time begins at midnight of that day.
    auto at = fmt::format("2024-10-04T00:00:{:02}Z", random.below(10));
    plan.input = Value::object({{"at", Value{at}}});
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

RunPlan paused(Random& random) {
    auto plan = random.chance(0.5) ? join(random) : tasks(random);
    plan.is_paused = true;
    return plan;
}

RunPlan cancelled(Random& /*random*/) {
    auto plan = RunPlan{.definition = "patient", .is_cancelled = true};
    plan.status = trigger::Status::Cancelled;
    return plan;
}

/// Its events wait for the last of its generations.
RunPlan generations(Random& random) {
    auto plan = counted("generations", size_in(random, 2, 5));
    send(plan, "item", 3);
    auto all = static_cast<std::uint64_t>(plan.result.as_int());
    plan.fires = {{"begin", all}, {"next", all - 1}, {"last", 1}, {"items", 1}};
    return plan;
}

RunPlan reopened(Random& /*random*/) {
    auto plan = RunPlan{.definition = "reopened", .is_reopened = true};
    plan.result = Value{2};
    plan.fires = {{"begin", 1}, {"part", 1}, {"again", 1}, {"end", 1}};
    return plan;
}

RunPlan noted(Random& /*random*/) {
    auto plan = RunPlan{.definition = "noted"};
    plan.noted = 2;
    return plan;
}

RunPlan timed_out(Random& /*random*/) {
    auto plan = RunPlan{.definition = "hasty"};
    plan.status = trigger::Status::TimedOut;
    return plan;
}

RunPlan machine(Random& random) {
    auto plan = RunPlan{.definition = "machine"};
    auto items = std::vector<Value>{};
    for (auto at = size_in(random, 1, 8); at > 0; --at) {
        items.emplace_back(size_in(random, 0, 1000));
    }
    auto loops = size_in(random, 1, 4);
    plan.result = Value::list(items);
    plan.input =
        Value::object({{"items", plan.result}, {"round", Value::object({{"left", loops}})}});
    plan.fires = {{"Item", items.size()}, {"Round", static_cast<std::uint64_t>(loops)}};
    return plan;
}

void publish(RunPlan& plan, std::string_view type, std::int64_t count) {
    send(plan, type, count);
    for (auto& event : plan.events) {
        event.by_bus |= event.type == type;
    }
}

/// Items of the bus, each once and in order, though the run knows no duplicates; the last ends it.
RunPlan by_bus(Random& random) {
    auto plan = counted("summed", size_in(random, 1, 25));
    publish(plan, "item", plan.result.as_int());
    publish(plan, "end", 1);
    plan.fires = {{"each", static_cast<std::uint64_t>(plan.result.as_int())}, {"end", 1}};
    return plan;
}

/// The same, with room for three until a client opens the gate.
RunPlan pressed(Random& random) {
    auto plan = by_bus(random);
    plan.definition = "pressed";
    send(plan, "open", 1);
    plan.fires["gate"] = 1;
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

/// One run that asks another, which numbers its replies once a client has opened the gate.
void add_asking(Random& random, std::vector<RunPlan>& plans) {
    auto teller = counted("teller", size_in(random, 1, 15));
    teller.id = fmt::format("r{}", plans.size());
    send(teller, "open", 1);
    teller.fires = {{"each", static_cast<std::uint64_t>(teller.result.as_int())}, {"all", 1}};
    auto asker = counted("asker", teller.result.as_int());
    asker.id = fmt::format("r{}", plans.size() + 1);
    asker.input = asker.input.with("to", teller.id);
    asker.after = teller.id;
    asker.fires = {{"all", 1}};
    plans.push_back(std::move(teller));
    plans.push_back(std::move(asker));
}

/// Runs of one definition, of which only the first or the newest go on to their end.
void add_rivals(Random& random, std::vector<RunPlan>& plans) {
    constexpr auto names = std::array{"first", "last", "latest"};
    const auto* definition = names[random.below(names.size())];
    for (auto at = size_in(random, 2, 6); at > 0; --at) {
        auto plan = RunPlan{.definition = definition};
        plan.input = Value{size_in(random, 0, 1000)};
        plan.result = plan.input;
        plan.fires = {{"begin", 1}, {"end", 1}};
        plan.gives_way_as = plan.definition == "first" ? "skipped" : "superseded";
        plan.id = fmt::format("r{}", plans.size());
        plans.push_back(std::move(plan));
    }
}

/// Runs of one definition, which wait for their turn.
void add_turns(Random& random, std::vector<RunPlan>& plans) {
    if (random.chance(0.5)) {
        add_rivals(random, plans);
        return;
    }
    auto kind = random.below(3);
    for (auto at = size_in(random, 2, 4); at > 0; --at) {
        auto plan = RunPlan{.definition = kind == 0 ? "turns" : kind == 1 ? "redone" : "withdrawn"};
        if (kind == 0) {
            plan.input = Value{size_in(random, 0, 1000)};
            plan.result = plan.input;
            plan.fires = {{"begin", 1}, {"end", 1}};
            plan.is_paused = random.chance(0.3);
        } else if (kind == 1) {
            plan.is_reopened = true;
            plan.result = Value{2};
            plan.fires = {{"begin", 1}, {"first", 1}, {"again", 1}, {"end", 1}};
        } else {
            plan.is_cancelled = true;
            plan.status = trigger::Status::Cancelled;
        }
        plan.id = fmt::format("r{}", plans.size());
        plans.push_back(std::move(plan));
    }
}

} // namespace

std::vector<RunPlan> draw_plans(Random& random) {
    using Make = RunPlan (*)(Random&);
    constexpr auto makes =
        std::array<Make, 20>{machine,   paused,    noted,       join,     in_rounds, tasks,  fan,
                             race,      timers,    nested,      held,     parked,    kept,   slices,
                             cancelled, timed_out, generations, reopened, by_bus,    pressed};
    auto plans = std::vector<RunPlan>{};
    auto count = 2 + random.below(5);
    for (auto at = std::uint64_t{0}; at < count; ++at) {
        if (random.chance(0.15)) {
            add_turns(random, plans);
            continue;
        }
        if (random.chance(0.2)) {
            random.chance(0.5) ? add_pair(random, plans) : add_asking(random, plans);
            continue;
        }
        auto plan = makes[random.below(makes.size())](random);
        plan.id = fmt::format("r{}", plans.size());
        plans.push_back(std::move(plan));
    }
    return plans;
}

} // namespace sluice::simulation
