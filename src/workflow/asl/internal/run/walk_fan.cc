#include <utility>

#include <fmt/format.h>

#include "workflow/asl/internal/data_flow.h"
#include "workflow/asl/internal/run/walk.h"
#include "workflow/asl/internal/run/words.h"
#include "workflow/asl/resource_names.h"

namespace sluice::workflow::asl::internal::run {

namespace {

// Parts of results that may be under way: beyond, children wait for the writer.
constexpr auto writes_max = std::uint64_t{2};

const MapState* map_of(const Visit& visit) {
    return std::get_if<MapState>(&visit.state.details);
}

bool is_distributed(const Visit& visit) {
    const auto* map = map_of(visit);
    return map != nullptr && map->is_distributed;
}

} // namespace

Step Walk::begin_parallel(Visit& visit) {
    const auto& state = visit.state;
    auto view = View{*this, visit};
    auto is_jsonata = state.language == Language::Jsonata;
    auto data = is_jsonata ? Evaluated<Value>{visit.input}
                           : apply_path(state.input_path, view.of(visit.input));
    if (data && state.parameters) {
        data = state.parameters->evaluate(view.of(*data), is_jsonata ? "Arguments" : "Parameters");
    }
    if (!data) {
        return fault(visit, std::move(data.error()));
    }
    auto fan = Fan{visit};
    fan.input = *std::move(data);
    fan.size = std::get<ParallelState>(state.details).branches.size();
    auto& frame = visit.frame;
    fan.started =
        tell(*frame.tally, "Parallel", "StateStarted", frame.last, [] { return Value{}; });
    frame.last = fan.last = fan.ended = fan.started;
    return run_children(fan);
}

Evaluated<void> Walk::read_items(Fan& fan, const Sight& sight) {
    const auto& map = *map_of(fan.visit);
    auto found = TRY(internal::read_items(map, fan.visit.state.language, sight));
    if (found.is_map()) {
        auto pairs = std::vector<Value>{};
        for (const auto& [key, member] : found.as_map()) {
            pairs.push_back(Value::object({{"Key", key}, {"Value", member}}));
        }
        found = Value::list(std::move(pairs));
        fan.are_pairs = true;
    }
    return take_items(fan, found, true);
}

Evaluated<void> Walk::read_concurrency(Fan& fan, const Sight& sight) {
    const auto& map = *map_of(fan.visit);
    if (map.concurrency_max.is_given()) {
        auto most = TRY(read_count(map.concurrency_max, "MaxConcurrency", sight));
        fan.concurrency = most == 0 ? fan.concurrency : static_cast<std::uint64_t>(most);
    }
    return {};
}

Evaluated<void> Walk::read_tolerance(Fan& fan, const Sight& sight) {
    const auto& map = *map_of(fan.visit);
    if (map.tolerated_count.is_given()) {
        fan.tolerated = static_cast<std::uint64_t>(
            TRY(read_count(map.tolerated_count, "ToleratedFailureCount", sight)));
    }
    if (map.tolerated_percentage.is_given()) {
        fan.tolerated_share =
            TRY(read_percentage(map.tolerated_percentage, "ToleratedFailurePercentage", sight));
    }
    return {};
}

Step Walk::begin_map(Visit& visit) {
    const auto& state = visit.state;
    auto view = View{*this, visit};
    auto data = state.language == Language::Jsonata
                    ? Evaluated<Value>{visit.input}
                    : apply_path(state.input_path, view.of(visit.input));
    if (!data) {
        return fault(visit, std::move(data.error()));
    }
    auto fan = Fan{visit};
    fan.input = *data;
    auto sight = view.of(*data);
    auto read = read_concurrency(fan, sight);
    auto has_reader = map_of(visit)->reader.has_value();
    if (read && !has_reader) {
        read = read_items(fan, sight);
    }
    if (!read) {
        return fault(visit, std::move(read.error()));
    }
    auto& frame = visit.frame;
    fan.started = tell(*frame.tally, "Map", "StateStarted", frame.last,
                       [&] { return Value::object({{"length", as_value(fan.size)}}); });
    frame.last = fan.last = fan.ended = fan.started;
    if (auto tolerance = read_tolerance(fan, sight); !tolerance) {
        return fault(visit, std::move(tolerance.error()));
    }
    if (is_distributed(visit)) {
        frame.last = tell(*frame.tally, "MapRun", "Started", frame.last,
                          [&] { return Value::object({{"mapRunArn", map_run_arn(fan)}}); });
        fan.ended = frame.last;
        hear_limits(fan);
    }
    if (!has_reader) {
        return run_children(fan);
    }
    if (auto prepared = prepare_reader(fan, sight); !prepared) {
        return break_off(fan, frame.last, std::move(prepared.error()));
    }
    return ask_for_page(fan);
}

Step Walk::run_children(Fan& fan) {
    if (!fan.failure.is_null()) {
        return finish_map_run(fan);
    }
    while (fan.has_more() && fan.running < fan.concurrency && fan.writes < writes_max) {
        if (is_spent()) {
            open(fan);
            static_cast<void>(set_timer(fan.visit, Nanos{0}, words::resume));
            store(fan);
            return {};
        }
        auto child = Frame{.index = fan.next, .item = {}, .variables = {}};
        if (auto step = fan.again > 0 ? run_again(fan) : run_child(fan, child)) {
            return *std::move(step);
        }
    }
    if (!fan.is_over() || fan.is_reading) {
        store(fan);
        return {};
    }
    return fan.cursor.is_null() ? finish(fan) : ask_for_page(fan);
}

std::optional<Step> Walk::run_child(Fan& fan, Frame& child) {
    const auto& details = fan.visit.state.details;
    const auto* parallel = std::get_if<ParallelState>(&details);
    auto tally = Tally{.is_of_child = true, .about = {}, .item = {}, .failed_at = {}};
    child.flow = parallel == nullptr ? std::get<MapState>(details).processor
                                     : parallel->branches[child.index];
    child.outer = &fan.visit.frame;
    child.fan = &fan;
    child.tally = is_distributed(fan.visit) ? &tally : fan.visit.frame.tally;
    child.last = is_distributed(fan.visit) ? 0 : fan.last;
    if (parallel == nullptr && !is_distributed(fan.visit)) {
        child.last = tell(*child.tally, "MapIteration", "Started", fan.last, [&] {
            return Value::object(
                {{"name", fan.visit.state.name}, {"index", as_value(child.index)}});
        });
    }
    auto input = fan.input;
    if (parallel == nullptr) {
        child.item = item_of(fan, child.index);
        auto selected = child_input(fan, child);
        if (!selected) {
            return break_off(fan, child.last, explained(fan.visit, std::move(selected.error())),
                             child.index);
        }
        input = *std::move(selected);
    }
    ++fan.next;
    if (is_distributed(fan.visit)) {
        begin_execution(fan, child, input);
    }
    return go_into_child(fan, child, machine().flows[child.flow].start, std::move(input));
}

std::optional<Step> Walk::go_into_child(Fan& fan, Frame& child, StateNumber number, Value input) {
    auto step = go(child, number, std::move(input));
    if (step.kind == Step::Kind::Waiting) {
        ++fan.running;
        if (is_distributed(fan.visit)) {
            keep_tally(*child.tally);
        }
        return std::nullopt;
    }
    fan.running += is_ending_ ? 1 : 0;
    return take_child(fan, child, std::move(step));
}

/// Of a child execution that goes on later.
void Walk::keep_tally(const Tally& tally) {
    firing_.record(trigger::Remembered{
        .scope = tally.scope, .trigger = program_.machine_trigger(), .memory = tally.to_memory()});
}

Value Walk::item_of(const Fan& fan, std::uint64_t index) const {
    const auto& item = fan.items.as_list()[index - fan.base];
    if (!fan.are_pairs || fan.are_inputs) {
        return Value::object({{"Index", as_value(index)}, {"Value", item}});
    }
    return Value::object(
        {{"Index", as_value(index)}, {"Key", *item.find("Key")}, {"Value", *item.find("Value")}});
}

Evaluated<Value> Walk::child_input(Fan& fan, const Frame& child) {
    const auto& map = *map_of(fan.visit);
    if (!map.item_selector || fan.are_inputs) {
        return fan.items.as_list()[child.index - fan.base];
    }
    auto view = View{*this, fan.visit, &child.item};
    return map.item_selector->evaluate(view.of(fan.input), "ItemSelector");
}

std::optional<Step> Walk::take_child(Fan& fan, const Frame& child, Step step) {
    auto is_ended = step.kind == Step::Kind::Ended;
    auto is_inline_map = map_of(fan.visit) != nullptr && !is_distributed(fan.visit);
    fan.done += is_ending_ ? 0 : 1;
    if (is_inline_map) {
        auto told =
            tell(*child.tally, "MapIteration", is_ended ? "Succeeded" : "Failed", child.last, [&] {
                return Value::object(
                    {{"name", fan.visit.state.name}, {"index", as_value(child.index)}});
            });
        fan.ended = told;
        fan.last = fan.concurrency < fan.size ? child.last : fan.last;
    } else if (!is_distributed(fan.visit)) {
        fan.ended = child.last;
    }
    if (!is_ended && map_of(fan.visit) == nullptr &&
        machine().states[step.next].kind == Kind::Task) {
        tell(*child.tally, "Task", "StateAborted", child.last, [] { return Value{}; });
    }
    fan.failed += is_ended || is_ending_ ? 0 : 1;
    if (is_distributed(fan.visit)) {
        return take_execution(fan, child, std::move(step));
    }
    if (!is_ended) {
        return break_off(fan, child.last, std::move(step.failure), child.index);
    }
    collect(fan, child.index, std::move(step.output));
    return std::nullopt;
}

void Walk::collect(Fan& fan, std::uint64_t index, Value value) {
    if (!fan.scope) {
        fan.held.emplace_back(index, std::move(value));
        return;
    }
    firing_.record(trigger::Collected{.scope = *fan.scope,
                                      .trigger = collector_of(fan, fan.slot),
                                      .index = index,
                                      .value = std::move(value)});
}

std::vector<Value> Walk::results_of(Fan& fan) {
    auto results = std::vector<Value>{};
    if (fan.scope) {
        results = state().collected_by(*fan.scope, trigger_of(fan.visit));
        if (fan.failed == 0) {
            results.resize(fan.size);
        }
        return results;
    }
    results.reserve(fan.held.size());
    for (auto& [index, result] : fan.held) {
        results.push_back(std::move(result));
    }
    return results;
}

Step Walk::finish(Fan& fan) {
    if (is_distributed(fan.visit)) {
        return finish_map_run(fan);
    }
    return finish(fan, Value::list(results_of(fan)));
}

Step Walk::finish(Fan& fan, const std::optional<Value>& result) {
    if (fan.scope) {
        firing_.decider().close_scope(path_of(*fan.scope));
    }
    auto& visit = fan.visit;
    auto& frame = visit.frame;
    auto nothing = [] { return Value{}; };
    if (is_distributed(visit)) {
        fan.ended = tell(*frame.tally, "MapRun", "Succeeded", fan.ended, nothing);
    }
    frame.last = fan.ended;
    tell(*frame.tally, name_of(visit.state.kind), "StateSucceeded", frame.last, nothing);
    return !result || exceeds(*result) ? exceed(visit, visit.state.name) : complete(visit, *result);
}

Step Walk::break_off(Fan& fan, std::uint64_t last, Failure failure,
                     std::optional<std::uint64_t> failed) {
    auto& frame = fan.visit.frame;
    if (is_distributed(fan.visit)) {
        return break_off_map_run(fan, std::move(failure));
    }
    if (fan.scope) {
        auto others = children_of(*fan.scope);
        if (failed) {
            others.erase(*failed);
        }
        abort_children(*frame.tally, fan.visit.state, std::move(others));
    }
    if (is_ending_) {
        store(fan);
    } else if (fan.scope) {
        firing_.decider().close_scope(path_of(*fan.scope));
    }
    frame.last = last;
    return fail(fan.visit, std::move(failure));
}

Step Walk::hand_over(Frame& child, Step step) {
    auto owner = *machine().flows[child.flow].owner;
    auto visit = Visit{machine(), owner, *child.outer};
    visit.restore(memory_of(*child.outer->scope, trigger::TriggerNumber{owner}));
    auto fan = Fan{visit};
    load_fan(fan);
    if (!is_ending_) {
        firing_.decider().close_scope(path_of(*child.scope));
        --fan.running;
    }
    if (auto taken = take_child(fan, child, std::move(step))) {
        return *std::move(taken);
    }
    return run_children(fan);
}

} // namespace sluice::workflow::asl::internal::run
