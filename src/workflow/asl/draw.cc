#include "workflow/asl/draw.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "value/wording.h"
#include "workflow/asl/internal/run/words.h"
#include "workflow/asl/internal/wording.h"

namespace sluice::workflow::asl {

namespace {

using value::text_at;

const Value& part_of(const Value& map, std::string_view name) {
    static const auto nothing = Value{};
    const auto* found = map.find(name);
    return found == nullptr ? nothing : *found;
}

std::span<const Value> items_of(const Value& map, std::string_view name) {
    const auto& list = part_of(map, name);
    return list.is_list() ? list.as_list() : std::span<const Value>{};
}

/// The definition that the trigger of the machine itself has; null: it is of none.
const Value* definition_in(const Value& trigger) {
    const auto* machine = part_of(trigger, "action").find(words::machine_term);
    return machine == nullptr ? nullptr : machine->find("definition");
}

const Value* definition_of(std::span<const Value> triggers) {
    for (const auto& each : triggers) {
        if (const auto* definition = definition_in(part_of(each, "trigger"))) {
            return definition;
        }
    }
    return nullptr;
}

graph::Tone tone_of_status(std::string_view status) {
    if (status == words::running) {
        return graph::Tone::Busy;
    }
    return status == words::retrying ? graph::Tone::Bad : graph::Tone::Waiting;
}

class MachineDrawer {
public:
    explicit MachineDrawer(std::string title) { graph_.title = std::move(title); }

    void add(const Value& definition) {
        open_.push_back({.form = &definition});
        // Flows wait here instead of being drawn where they stand: a Parallel goes before its
        // branches, and nesting costs no stack.
        for (auto at = std::size_t{0}; at < open_.size(); ++at) {
            add_flow(FlowPart{open_[at]});
        }
    }

    /// In branches and items there may be many.
    void add_status(const std::string& trigger, const Value& states) {
        auto at = node_of(trigger);
        if (at == graph::none || !states.is_list()) {
            return;
        }
        auto counts = std::map<std::string, std::size_t>{};
        for (const auto& each : states.as_list()) {
            if (auto status = text_at(part_of(each, "memory"), "status"); !status.empty()) {
                ++counts[status];
            }
        }
        auto& node = graph_.nodes[at];
        for (const auto& [status, count] : counts) {
            node.status += node.status.empty() ? "" : ", ";
            node.status += count == 1 ? status : fmt::format("{} {}", count, status);
            node.tone = std::max(node.tone, tone_of_status(status));
        }
    }

    graph::Graph finish() { return std::move(graph_); }

private:
    struct FlowPart {
        const Value* form = nullptr;
        std::uint32_t parent = graph::none;
    };

    /// A state whose name is none for a trigger goes by its number there: `#7`.
    std::uint32_t node_of(const std::string& trigger) const {
        if (auto found = by_name_.find(trigger); found != by_name_.end()) {
            return found->second;
        }
        auto number = std::size_t{0};
        const auto* end = trigger.data() + trigger.size();
        auto is_number =
            trigger.starts_with('#') && std::from_chars(trigger.data() + 1, end, number).ptr == end;
        return is_number && number < by_number_.size() ? by_number_[number] : graph::none;
    }

    std::uint32_t add_node(std::string name, std::string detail, std::uint32_t parent) {
        auto node = graph::Node{};
        node.id = name;
        node.name = std::move(name);
        node.detail = std::move(detail);
        node.parent = parent;
        graph_.nodes.push_back(std::move(node));
        return static_cast<std::uint32_t>(graph_.nodes.size() - 1);
    }

    void add_flow(const FlowPart& flow) {
        const auto& states = part_of(*flow.form, "States");
        if (!states.is_map()) {
            return;
        }
        auto is_outer = flow.parent == graph::none;
        auto start = is_outer ? add_node("start", "", graph::none) : graph::none;
        for (const auto& [name, state] : states.as_map()) {
            auto node = add_node(name, internal::describe_state(state), flow.parent);
            by_name_.emplace(name, node);
            by_number_.push_back(node);
            open_flows(state, node);
        }
        auto end = is_outer ? add_node("end", "", graph::none) : graph::none;
        if (is_outer) {
            add_edge(start, text_at(*flow.form, "StartAt"), "");
        }
        for (const auto& [name, state] : states.as_map()) {
            add_edges(by_name_.at(name), state, end);
        }
    }

    void open_flows(const Value& state, std::uint32_t node) {
        for (const auto& branch : items_of(state, "Branches")) {
            open_.push_back({.form = &branch, .parent = node});
        }
        for (auto name : {"ItemProcessor", "Iterator"}) {
            if (const auto* processor = state.find(name)) {
                open_.push_back({.form = processor, .parent = node});
            }
        }
    }

    void add_edges(std::uint32_t from, const Value& state, std::uint32_t end) {
        for (const auto& rule : items_of(state, "Choices")) {
            add_edge(from, text_at(rule, "Next"), internal::describe_rule(rule));
        }
        add_edge(from, text_at(state, "Default"), "otherwise");
        add_edge(from, text_at(state, "Next"), "");
        for (const auto& rule : items_of(state, "Catch")) {
            auto errors = std::vector<std::string>{};
            for (const auto& error : items_of(rule, "ErrorEquals")) {
                errors.push_back(error.is_string() ? std::string{error.as_string()} : "");
            }
            add_edge(from, text_at(rule, "Next"), fmt::format("error {}", fmt::join(errors, ", ")),
                     graph::Line::Dashed);
        }
        auto type = text_at(state, "Type");
        auto is_last = state.find("End") != nullptr || type == "Succeed" || type == "Fail";
        if (is_last && end != graph::none) {
            graph_.edges.push_back({.from = from, .to = end});
        }
    }

    void add_edge(std::uint32_t from, const std::string& to, std::string label,
                  graph::Line line = graph::Line::Solid) {
        auto target = by_name_.find(to);
        if (target != by_name_.end()) {
            graph_.edges.push_back({from, target->second, std::move(label), line});
        }
    }

    graph::Graph graph_;
    std::vector<FlowPart> open_;
    boost::unordered_flat_map<std::string, std::uint32_t> by_name_;
    std::vector<std::uint32_t> by_number_; ///< As the states are read.
};

} // namespace

bool has_states(std::span<const Value> triggers) {
    return definition_of(triggers) != nullptr;
}

graph::Graph draw(std::string title, std::span<const Value> triggers) {
    auto drawer = MachineDrawer{std::move(title)};
    if (const auto* definition = definition_of(triggers)) {
        drawer.add(*definition);
    }
    for (const auto& each : triggers) {
        drawer.add_status(text_at(part_of(each, "trigger"), "id"), part_of(each, "states"));
    }
    return drawer.finish();
}

} // namespace sluice::workflow::asl
