#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "workflow/asl/internal/run/walk.h"
#include "workflow/asl/internal/run/words.h"

namespace sluice::workflow::asl::internal::run {

namespace {

// Paths are a part of keys: those of deep nesting begin anew.
constexpr auto path_bytes_max = std::size_t{200};

trigger::Incarnation parent_of(const trigger::RunState& state, trigger::Incarnation scope) {
    return state.scopes.find(*state.path_of(scope))->second.parent;
}

} // namespace

std::uint64_t index_in(std::string_view path) {
    auto digits = path.substr(path.rfind('/') + 1);
    auto index = std::uint64_t{0};
    std::from_chars(digits.data(), digits.data() + digits.size(), index);
    return index;
}

std::string handle_of(const Machine& machine, StateNumber number) {
    const auto& name = machine.states[number].name;
    auto is_plain = name.size() <= 80 && !name.starts_with('#') && !name.starts_with('(') &&
                    name.find_first_of("/*") == std::string::npos;
    for (auto c : name) {
        is_plain &= static_cast<unsigned char>(c) >= 0x20 && c != 0x7F;
    }
    return is_plain ? name : fmt::format("#{}", number);
}

const Value& Walk::memory_of(trigger::Incarnation scope, trigger::TriggerNumber trigger) const {
    static const auto nothing = Value{};
    const auto* remembered = state().find_trigger(scope, trigger);
    return remembered == nullptr || !remembered->memory ? nothing : *remembered->memory;
}

std::string Walk::path_of(trigger::Incarnation scope) const {
    const auto* path = state().path_of(scope);
    return path == nullptr ? std::string{} : *path;
}

Tally& Walk::load_tally(trigger::Incarnation scope, bool is_of_child) {
    for (auto& tally : tallies_) {
        if (tally.scope == scope) {
            return tally;
        }
    }
    auto& tally =
        tallies_.emplace_back(Tally::from_memory(memory_of(scope, program_.machine_trigger())));
    tally.scope = scope;
    tally.is_of_child = is_of_child;
    return tally;
}

Frame& Walk::load_frame(trigger::Incarnation scope, FlowNumber flow) {
    for (auto& frame : frames_) {
        if (frame.scope == scope) {
            return frame;
        }
    }
    auto frame = Frame{.flow = flow, .scope = scope, .item = {}, .variables = {}};
    if (flow == 0) {
        frame.variables = state().context;
        frame.tally = &load_tally(trigger::root_scope, false);
        return frames_.emplace_back(std::move(frame));
    }
    auto owner = *machine().flows[flow].owner;
    auto fan_scope = parent_of(state(), scope);
    auto& outer = load_frame(parent_of(state(), fan_scope), machine().states[owner].flow);
    const auto& path = *state().path_of(scope);
    frame.outer = &outer;
    frame.index = index_in(path);
    frame.variables = state().scopes.find(path)->second.variables;
    frame.tally = outer.tally;
    if (const auto* map = std::get_if<MapState>(&machine().states[owner].details)) {
        auto visit = Visit{machine(), owner, outer};
        auto fan = Fan{visit};
        fan.scope = fan_scope;
        load_fan(fan);
        frame.hides_outer = map->is_distributed;
        if (map->is_distributed) {
            frame.tally = &load_tally(scope, true);
            frame.tally->name = heard_name(fan, frame.index);
        }
        frame.item = map->is_distributed && !frame.tally->item.is_null()
                         ? frame.tally->item
                         : item_of(fan, frame.index);
    }
    return frames_.emplace_back(std::move(frame));
}

void Walk::load_fan(Fan& fan) {
    if (!fan.scope) {
        fan.scope = fan_scope_of(*fan.visit.frame.scope, trigger_of(fan.visit));
    }
    INVARIANT(fan.scope.has_value(), "a state that waits for its children has a scope");
    fan.restore(state().scopes.find(*state().path_of(*fan.scope))->second.variables,
                memory_of(*fan.scope, trigger_of(fan.visit)));
}

std::optional<trigger::Incarnation> Walk::fan_scope_of(trigger::Incarnation scope,
                                                       trigger::TriggerNumber trigger) const {
    auto members = state().members.find(scope);
    if (members == state().members.end()) {
        return std::nullopt;
    }
    for (const auto& path : members->second.children) {
        auto inner = state().scope_at(path);
        if (inner && memory_of(*inner, trigger).is_map()) {
            return inner;
        }
    }
    return std::nullopt;
}

std::map<std::uint64_t, trigger::Incarnation> Walk::children_of(
    trigger::Incarnation fan_scope) const {
    auto children = std::map<std::uint64_t, trigger::Incarnation>{};
    auto members = state().members.find(fan_scope);
    if (members == state().members.end()) {
        return children;
    }
    for (const auto& path : members->second.children) {
        if (auto scope = state().scope_at(path)) {
            children.emplace(index_in(path), *scope);
        }
    }
    return children;
}

trigger::Incarnation Walk::open_scope(trigger::Incarnation parent, const std::string& path,
                                      Value variables) {
    auto incarnation = trigger::Incarnation{state().progress.incarnations + 1};
    firing_.record(trigger::ScopeOpened{
        .path = path,
        .scope = {
            .incarnation = incarnation, .parent = parent, .variables = std::move(variables)}});
    return incarnation;
}

trigger::Incarnation Walk::open(Frame& frame) {
    if (!frame.scope) {
        auto& fan = *frame.fan;
        open(fan);
        frame.scope = open_scope(*fan.scope, fmt::format("{}/{}", path_of(*fan.scope), frame.index),
                                 frame.variables);
        if (frame.tally->is_of_child && frame.hides_outer) {
            frame.tally->scope = *frame.scope;
        }
    }
    return *frame.scope;
}

void Walk::open(Fan& fan) {
    if (fan.scope) {
        return;
    }
    auto parent = open(fan.visit.frame);
    auto around = path_of(parent);
    auto handle = handle_of(machine(), fan.visit.number);
    auto path = around.empty() ? handle : fmt::format("{}/{}", around, handle);
    if (path.size() > path_bytes_max) {
        path = fmt::format("~{}", state().progress.incarnations + 1);
    }
    fan.scope = open_scope(parent, path, fan.plan());
    for (auto& [index, result] : fan.held) {
        firing_.record(trigger::Collected{.scope = *fan.scope,
                                          .trigger = trigger_of(fan.visit),
                                          .index = index,
                                          .value = std::move(result)});
    }
    fan.held.clear();
}

void Walk::store(Visit& visit, std::string_view status) {
    auto scope = open(visit.frame);
    firing_.record(trigger::Remembered{
        .scope = scope, .trigger = trigger_of(visit), .memory = visit.to_memory(status)});
    visit.is_stored = true;
}

void Walk::store(Fan& fan) {
    open(fan);
    firing_.record(trigger::Remembered{
        .scope = *fan.scope, .trigger = trigger_of(fan.visit), .memory = fan.counts()});
    if (!fan.visit.is_stored) {
        store(fan.visit, words::running);
    }
}

void Walk::forget(Visit& visit) {
    if (visit.is_stored) {
        firing_.record(trigger::Remembered{
            .scope = *visit.frame.scope, .trigger = trigger_of(visit), .memory = {}});
        visit.is_stored = false;
    }
}

void Walk::assign(Frame& frame, const Value& assigned) {
    for (const auto& [name, variable] : assigned.as_map()) {
        frame.variables = frame.variables.with(name, variable);
    }
    if (frame.outer == nullptr) {
        firing_.record(trigger::ContextSet{.context = frame.variables});
    } else if (frame.scope) {
        firing_.record(
            trigger::VariablesSet{.path = path_of(*frame.scope), .variables = frame.variables});
    }
}

trigger::TimerNumber Walk::set_timer(const Visit& visit, Nanos after, std::string_view purpose) {
    auto timer = trigger::TimerState{};
    timer.due = firing_.decider().moment().steady + after;
    return set_timer(visit, std::move(timer), purpose);
}

trigger::TimerNumber Walk::set_timer(const Visit& visit, trigger::TimerState timer,
                                     std::string_view purpose) {
    timer.name = handle_of(machine(), visit.number);
    timer.subject = timer.name;
    timer.scope = *visit.frame.scope;
    timer.trigger = trigger_of(visit);
    timer.data = Value{purpose};
    firing_.decider().set_timer(std::move(timer));
    return trigger::TimerNumber{state().progress.timers};
}

void Walk::remove_timers(Visit& visit) {
    for (auto* number : {&visit.timer, &visit.pulse}) {
        if (*number > 0) {
            firing_.decider().remove_timer(trigger::TimerNumber{std::exchange(*number, 0)});
        }
    }
}

} // namespace sluice::workflow::asl::internal::run
