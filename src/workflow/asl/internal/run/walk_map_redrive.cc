#include <algorithm>
#include <iterator>
#include <ranges>
#include <utility>

#include <fmt/format.h>

#include "value/wording.h"
#include "workflow/asl/compile.h"
#include "workflow/asl/internal/run/json_bytes.h"
#include "workflow/asl/internal/run/map_fields.h"
#include "workflow/asl/internal/run/walk.h"
#include "workflow/asl/internal/run/words.h"

// What a redrive does with a map run: children that did not succeed go on at the state that they
// ended in, results of the others stand, and those that had not begun begin.
namespace sluice::workflow::asl::internal::run {

namespace {

// As much is kept of children without success: beyond, a redrive cannot go on with them.
constexpr auto kept_bytes_max = std::uint64_t{8} << 20U;

bool is_collected(const trigger::RunState& state, trigger::Incarnation scope,
                  trigger::TriggerNumber trigger, std::uint64_t index) {
    constexpr auto size = trigger::CollectedBlock::size;
    auto block = state.collected.find({.scope = scope, .trigger = trigger, .block = index / size});
    return block != state.collected.end() && block->second.values.size() > index % size &&
           !block->second.values[index % size].is_null();
}

} // namespace

bool Walk::keep_child(Fan& fan, const Frame& child) {
    const auto& tally = *child.tally;
    // One that has no such place has a full history.
    if (fan.visit.frame.tally->is_of_child || !tally.failed_at.is_map()) {
        ++fan.lost;
        return false;
    }
    auto record = tally.to_memory();
    for (const auto& [name, value] : tally.failed_at.as_map()) {
        record = record.with(name, value);
    }
    record = child.variables.is_null() ? record : record.with("variables", child.variables);
    record = fan.request.is_null() ? record : record.with("item", child.item);
    auto bytes = json_bytes(record, kept_bytes_max);
    if (fan.kept_bytes + bytes > kept_bytes_max) {
        ++fan.lost;
        return false;
    }
    open(fan);
    firing_.record(trigger::Collected{.scope = *fan.scope,
                                      .trigger = keeper(),
                                      .index = child.index,
                                      .value = std::move(record)});
    ++fan.kept;
    fan.kept_bytes += bytes;
    return true;
}

std::vector<std::pair<std::uint64_t, Value>> Walk::kept_since(const Fan& fan,
                                                              std::uint64_t from) const {
    auto inputs = std::vector<std::pair<std::uint64_t, Value>>{};
    each_collected(
        state(), *fan.scope, keeper(),
        [&](std::uint64_t index, const Value& record) {
            const auto* about = record.find("about");
            inputs.emplace_back(index, about == nullptr ? Value{} : *about->find("input"));
            return true;
        },
        from);
    return inputs;
}

Value Walk::place_in_child(FlowNumber flow, trigger::Incarnation scope) const {
    for (auto number = StateNumber{0}; number < machine().states.size(); ++number) {
        if (machine().states[number].flow != flow) {
            continue;
        }
        if (const auto* input = memory_of(scope, trigger::TriggerNumber{number}).find("input")) {
            return Value::object({{"state", as_value(number)}, {"input", *input}});
        }
    }
    return Value::map({});
}

void Walk::abort_executions(Fan& fan, Keep keep) {
    // Otherwise they go with the scope of the map, and are only told of.
    auto is_single = keep == Keep::Yes || !fan.failure.is_null();
    if (!fan.scope || (!is_single && listener_ == nullptr)) {
        return;
    }
    auto flow = map_state(fan).processor;
    for (const auto& [index, scope] : children_of(*fan.scope)) {
        auto path = path_of(scope);
        auto tally = Tally::from_memory(memory_of(scope, program_.machine_trigger()));
        tally.is_of_child = true;
        tally.name = heard_name(fan, index);
        tally.failed_at = place_in_child(flow, scope);
        auto child = Frame{.flow = flow,
                           .outer = &fan.visit.frame,
                           .scope = scope,
                           .index = index,
                           .item = tally.item.is_null() ? item_of(fan, index) : tally.item,
                           .variables = state().scopes.find(path)->second.variables,
                           .tally = &tally};
        tell(tally, "Execution", "Aborted", tally.events, [] { return Value{}; });
        auto is_lost = keep == Keep::Yes && !keep_child(fan, child);
        hear_child(fan, child, "ABORTED",
                   is_lost ? Value::object({{"lost", true}}) : Value::map({}));
        if (!fan.failure.is_null()) {
            keep_result(fan, index,
                        tally.about.with("status", "ABORTED")
                            .with("stopped", time_text(firing_.decider().moment().time)));
        }
        if (is_single) {
            firing_.decider().close_scope(path);
            ++fan.done;
        }
    }
    fan.running = is_single ? 0 : fan.running;
}

/// What was told of those that go on, where results are collected: it will be told anew.
void Walk::drop_records_of_kept(Fan& fan) {
    if (!keeps_records(fan)) {
        return;
    }
    auto slots = std::vector{fan.slot};
    std::ranges::copy(std::views::keys(fan.parts), std::back_inserter(slots));
    for (auto slot : slots) {
        auto collector = collector_of(fan, slot);
        auto dropped = std::vector<std::pair<std::uint64_t, std::uint64_t>>{};
        each_collected(state(), *fan.scope, collector,
                       [&](std::uint64_t index, const Value& record) {
                           auto is_pending = value::text_at(record, "status") == "PENDING";
                           if (is_pending || is_collected(state(), *fan.scope, keeper(), index)) {
                               dropped.emplace_back(index, json_bytes(record, part_bytes_max) + 1);
                           }
                           return true;
                       });
        for (auto [index, bytes] : dropped) {
            fan.bytes -= slot == fan.slot ? std::min(fan.bytes, bytes) : 0;
            firing_.record(trigger::Collected{
                .scope = *fan.scope, .trigger = collector, .index = index, .value = {}});
        }
    }
    // Files of them are written anew, and the manifest names no others.
    fan.files[1] = fan.lost == 0 ? 0 : fan.files[1];
    fan.files[2] = 0;
}

void Walk::redrive_map_run(const Place& place, std::uint64_t last) {
    auto visit = visit_at(place.scope, place.state);
    if (!visit) {
        return;
    }
    auto fan = Fan{*visit};
    load_fan(fan);
    fan.failure = {};
    abort_executions(fan, Keep::Yes);
    drop_records_of_kept(fan);
    fan.done -= fan.kept;
    fan.again += std::exchange(fan.kept, 0);
    fan.again_from = 0;
    fan.kept_bytes = 0;
    fan.failed = fan.lost;
    fan.is_closing = false;
    ++fan.redrives;
    visit->tries.clear();
    visit->retries = 0;
    auto& frame = visit->frame;
    frame.last = tell(*frame.tally, "MapRun", "Redriven", last, [&] {
        return Value::object(
            {{"mapRunArn", map_run_arn(fan)}, {"redriveCount", as_value(fan.redrives)}});
    });
    fan.ended = frame.last;
    store(*visit, words::running);
    write_parts_again(fan);
    conclude(&frame, fan.is_reading ? ask_for_page(fan) : run_children(fan));
}

/// Nobody knows of parts that were being written whether they are.
void Walk::write_parts_again(Fan& fan) {
    fan.writes = fan.parts.size();
    for (auto slot : std::views::keys(fan.parts)) {
        call_own(fan, results_function, part_request(fan, slot));
    }
}

std::optional<Step> Walk::run_again(Fan& fan) {
    auto index = std::uint64_t{0};
    auto record = Value{};
    each_collected(
        state(), *fan.scope, keeper(),
        [&](std::uint64_t found, const Value& value) {
            index = found;
            record = value;
            return false;
        },
        fan.again_from);
    INVARIANT(record.is_map(), "as many children are kept as are to go on");
    --fan.again;
    fan.again_from = index + 1;
    firing_.record(
        trigger::Collected{.scope = *fan.scope, .trigger = keeper(), .index = index, .value = {}});
    auto tally = Tally::from_memory(record);
    tally.is_of_child = true;
    tally.name = heard_name(fan, index);
    ++tally.redrives;
    const auto* variables = record.find("variables");
    auto child = Frame{.flow = map_state(fan).processor,
                       .outer = &fan.visit.frame,
                       .fan = &fan,
                       .index = index,
                       .item = tally.item.is_null() ? item_of(fan, index) : tally.item,
                       .variables = variables == nullptr ? Value{} : *variables,
                       .tally = &tally,
                       .hides_outer = true};
    auto number = machine().flows[child.flow].start;
    auto input = Value{};
    if (record.find("state") != nullptr) {
        number = static_cast<StateNumber>(count_at(record, "state"));
        input = *record.find("input");
    } else if (auto selected = child_input(fan, child)) {
        input = *std::move(selected);
    } else {
        return break_off(fan, 0, explained(fan.visit, std::move(selected.error())));
    }
    hear_child(fan, child, "RUNNING", Value::object({{"again", true}}));
    child.last = tell(tally, "Execution", "Redriven", tally.events,
                      [&] { return Value::object({{"redriveCount", as_value(tally.redrives)}}); });
    return go_into_child(fan, child, number, std::move(input));
}

} // namespace sluice::workflow::asl::internal::run
