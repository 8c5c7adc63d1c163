#include "workflow/dag/draw.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>
#include <fmt/format.h>

#include "value/wording.h"
#include "workflow/dag/internal/words.h"

namespace sluice::workflow::dag {

namespace {

using value::text_at;

const Value& member(const Value& map, std::string_view name) {
    static const auto nothing = Value{};
    const auto* found = map.find(name);
    return found == nullptr ? nothing : *found;
}

/// What a task's trigger does; null: it is none of a task.
const Value* settings_of(const Value& trigger) {
    return member(trigger, "action").find(words::task_term);
}

std::string text_of(const Value& value) {
    return value.is_string() ? std::string{value.as_string()} : value::brief(value);
}

std::vector<std::string> names_in(const Value& one_or_list) {
    auto names = std::vector<std::string>{};
    if (one_or_list.is_list()) {
        std::ranges::transform(one_or_list.as_list(), std::back_inserter(names), text_of);
    } else if (!one_or_list.is_null()) {
        names.push_back(text_of(one_or_list));
    }
    return names;
}

std::string wait_text(const Value& wait) {
    if (!wait.is_map()) {
        return "wait " + text_of(wait);
    }
    if (const auto* event = wait.find("event")) {
        return "wait for " + (event->is_map() ? text_at(*event, "type") : text_of(*event));
    }
    return wait.find("until") != nullptr ? "wait until " + text_at(wait, "until")
                                         : "wait " + text_at(wait, "for");
}

std::string map_text(const Value& map) {
    auto text = fmt::format("for each of {}", text_of(member(map, "over")));
    return map.find("call") == nullptr ? text : text + ": call " + text_at(map, "call");
}

std::string call_text(const Value& settings) {
    auto function = text_at(settings, "call");
    for (auto kind : {"script", "http"}) {
        if (function.starts_with(std::string{kind} + ":")) {
            return kind;
        }
    }
    return "call " + function;
}

/// What a task does, and when it is to.
std::string detail_of(const Value& settings) {
    auto text = std::string{};
    if (settings.find("call") != nullptr) {
        text = call_text(settings);
    } else if (const auto* map = settings.find("map")) {
        text = map_text(*map);
    } else if (settings.find("branch") != nullptr) {
        text = "branch";
    } else if (const auto* wait = settings.find("wait")) {
        text = wait_text(*wait);
    } else if (settings.find("approve") != nullptr) {
        text = "approve";
    } else if (settings.find("subworkflow") != nullptr) {
        text = "run " + text_of(member(settings, "subworkflow"));
    } else if (const auto* emit = settings.find("emit")) {
        text = "emit " + (emit->is_map() ? text_at(*emit, "type") : text_of(*emit));
    }
    if (const auto* when = settings.find("when")) {
        text += " if " + text_of(*when);
    }
    const auto& rule = member(settings, "rule");
    auto is_plain = rule.is_null() || rule == Value{"caught"} || rule == Value{"all_success"};
    return is_plain ? text : fmt::format("{}, {}", text, text_of(rule));
}

graph::Tone tone_of(std::string_view status) {
    using graph::Tone;
    static constexpr std::pair<std::string_view, Tone> tones[] = {
        {words::running, Tone::Busy}, {words::waiting, Tone::Waiting},
        {words::halted, Tone::Bad},   {words::succeeded, Tone::Good},
        {words::failed, Tone::Bad},   {words::caught, Tone::Waiting},
        {words::skipped, Tone::Off},  {words::upstream_failed, Tone::Off},
        {words::undone, Tone::Off},   {words::pending, Tone::Plain},
    };
    const auto* found = std::ranges::find(tones, status, &std::pair<std::string_view, Tone>::first);
    return found == std::end(tones) ? Tone::Plain : found->second;
}

class Drawer {
public:
    Drawer(std::string title, std::span<const Value> triggers) {
        graph_.title = std::move(title);
        for (const auto& each : triggers) {
            const auto& trigger = member(each, "trigger");
            if (const auto* settings = settings_of(trigger)) {
                add_node(trigger, *settings);
                add_status(member(each, "states"));
                settings_.push_back(settings);
                triggers_.push_back(&trigger);
            }
        }
    }

    graph::Graph draw() {
        for (auto at = std::uint32_t{0}; at < triggers_.size(); ++at) {
            add_edges(at);
        }
        return std::move(graph_);
    }

private:
    void add_node(const Value& trigger, const Value& settings) {
        auto node = graph::Node{};
        node.id = text_at(trigger, "id");
        node.name = node.id;
        node.detail = detail_of(settings);
        if (const auto& within = member(settings, "within");
            within.is_list() && within.size() > 0) {
            auto prefix = text_of(within.as_list().back());
            if (node.id.starts_with(prefix)) {
                node.name = node.id.substr(prefix.size());
                prefix.pop_back();
                auto owner = by_id_.find(prefix);
                node.parent = owner == by_id_.end() ? graph::none : owner->second;
            }
        }
        by_id_.emplace(node.id, static_cast<std::uint32_t>(graph_.nodes.size()));
        graph_.nodes.push_back(std::move(node));
    }

    /// In items of a map there may be many.
    void add_status(const Value& states) {
        if (!states.is_list()) {
            return;
        }
        auto counts = std::map<std::string, std::size_t>{};
        for (const auto& state : states.as_list()) {
            if (auto status = text_at(member(state, "memory"), "status"); !status.empty()) {
                ++counts[status];
            }
        }
        auto& node = graph_.nodes.back();
        if (counts.empty()) {
            node.status = node.parent == graph::none ? words::pending : "";
        } else if (counts.size() == 1 && node.parent == graph::none) {
            node.status = counts.begin()->first;
            node.tone = tone_of(node.status);
        } else {
            add_counts(node, counts);
        }
    }

    static void add_counts(graph::Node& node, const std::map<std::string, std::size_t>& counts) {
        for (const auto& [status, count] : counts) {
            node.status += fmt::format("{}{} {}", node.status.empty() ? "" : ", ", count, status);
            node.tone = std::max(node.tone, tone_of(status));
        }
    }

    void add_edges(std::uint32_t at) {
        auto is_handler = member(*settings_[at], "rule") == Value{"caught"};
        const auto& patterns = member(*triggers_[at], "on");
        if (!patterns.is_list()) {
            return;
        }
        for (const auto& pattern : patterns.as_list()) {
            if (text_at(pattern, "type") != words::done_pattern) {
                continue;
            }
            auto before = by_id_.find(text_at(pattern, "subject"));
            if (before != by_id_.end()) {
                graph_.edges.push_back(
                    {.from = before->second,
                     .to = at,
                     .label = is_handler ? catch_label(before->second, at)
                                         : branch_label(before->second, at),
                     .line = is_handler ? graph::Line::Dashed : graph::Line::Solid});
            }
        }
    }

    std::string catch_label(std::uint32_t from, std::uint32_t to) const {
        const auto& catches = member(*settings_[from], "catch");
        auto single = std::array{catches};
        for (const auto& each :
             catches.is_list() ? catches.as_list() : std::span<const Value>{single}) {
            if (each.is_map() && text_at(each, "task") == graph_.nodes[to].name) {
                auto kinds = names_in(member(each, "on"));
                return fmt::format("error {}", fmt::join(kinds, ", "));
            }
        }
        return "error";
    }

    std::string branch_label(std::uint32_t from, std::uint32_t to) const {
        const auto& cases = member(*settings_[from], "branch");
        if (!cases.is_list()) {
            return {};
        }
        for (const auto& each : cases.as_list()) {
            auto chosen = names_in(member(each, "go"));
            if (std::ranges::find(chosen, graph_.nodes[to].name) != chosen.end()) {
                const auto& when = member(each, "when");
                return when.is_null() ? "otherwise" : text_of(when);
            }
        }
        return {};
    }

    graph::Graph graph_;
    std::vector<const Value*> settings_; ///< By node.
    std::vector<const Value*> triggers_;
    boost::unordered_flat_map<std::string, std::uint32_t> by_id_;
};

} // namespace

bool has_tasks(std::span<const Value> triggers) {
    return std::ranges::any_of(triggers, [](const Value& each) {
        return settings_of(member(each, "trigger")) != nullptr;
    });
}

graph::Graph draw(std::string title, std::span<const Value> triggers) {
    return Drawer{std::move(title), triggers}.draw();
}

} // namespace sluice::workflow::dag
