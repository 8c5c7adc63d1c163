#include "workflow/raw/draw.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>
#include <fmt/format.h>

#include "trigger/pattern.h"
#include "value/wording.h"

namespace sluice::workflow::raw {

namespace {

using trigger::Pattern;
using trigger::TextPattern;
using value::text_at;

constexpr auto comparisons_max = std::size_t{5'000'000};

const Value& member_of(const Value& map, std::string_view name) {
    static const auto nothing = Value{};
    const auto* found = map.find(name);
    return found == nullptr ? nothing : *found;
}

std::vector<Value> items_of(const Value& one_or_list) {
    if (one_or_list.is_list()) {
        return {one_or_list.as_list().begin(), one_or_list.as_list().end()};
    }
    return one_or_list.is_null() ? std::vector<Value>{} : std::vector<Value>{one_or_list};
}

std::string plain(const Value& text) {
    return text.is_string() ? std::string{text.as_string()} : std::string{};
}

TextPattern pattern_of(const Value& text) {
    auto read = text.is_string() ? TextPattern::parse(text.as_string()) : TextPattern{};
    return read ? *std::move(read) : TextPattern{};
}

/// What a template may give: all that begins as it does.
TextPattern written(std::string_view text) {
    auto open = text.find("${");
    return open == std::string_view::npos
               ? TextPattern{.kind = TextPattern::Kind::Exact, .text = std::string{text}}
               : TextPattern{.kind = open == 0 ? TextPattern::Kind::Any : TextPattern::Kind::Prefix,
                             .text = std::string{text.substr(0, open)}};
}

/// Whether there is a text that is both.
bool meet(const TextPattern& left, const TextPattern& right) {
    using Kind = TextPattern::Kind;
    if (left.kind == Kind::Any || right.kind == Kind::Any) {
        return true;
    }
    if (left.kind == Kind::Exact) {
        return right.matches(left.text);
    }
    return right.kind == Kind::Exact
               ? left.matches(right.text)
               : left.text.starts_with(right.text) || right.text.starts_with(left.text);
}

bool is_exact(const Pattern& pattern) {
    return pattern.type.kind == TextPattern::Kind::Exact &&
           pattern.subject.kind == TextPattern::Kind::Exact;
}

std::string key_of(const Pattern& pattern) {
    return pattern.type.text + '\0' + pattern.subject.text;
}

/// What one action leads to.
struct Effect {
    Pattern event;
    std::string label;
};

class TriggerDrawer {
public:
    TriggerDrawer(std::string title, std::span<const Value> triggers) {
        graph_.title = std::move(title);
        for (const auto& each : triggers) {
            add_node(member_of(each, "trigger"), member_of(each, "states"));
        }
    }

    graph::Graph draw() {
        for (auto at = std::uint32_t{0}; at < triggers_.size(); ++at) {
            for (const auto& action : items_of(member_of(triggers_[at], "action"))) {
                add_effects(at, action);
            }
            const auto& intercepted = member_of(triggers_[at], "intercept");
            add_switch(at, member_of(intercepted, "trigger"), "intercepts");
        }
        return std::move(graph_);
    }

private:
    void add_node(const Value& trigger, const Value& states) {
        auto at = static_cast<std::uint32_t>(triggers_.size());
        auto node = graph::Node{};
        node.id = text_at(trigger, "id");
        node.name = node.id;
        auto told = std::vector<std::string>{};
        for (const auto& form : items_of(member_of(trigger, "on"))) {
            auto pattern =
                Pattern{.type = pattern_of(form.is_map() ? member_of(form, "type") : form),
                        .subject = pattern_of(member_of(form, "subject"))};
            told.push_back(
                pattern.subject.kind == TextPattern::Kind::Any
                    ? pattern.type.to_text()
                    : fmt::format("{} {}", pattern.type.to_text(), pattern.subject.to_text()));
            if (is_exact(pattern)) {
                exact_by_key_[key_of(pattern)].push_back(at);
            }
            auto& waits = is_exact(pattern) ? exact_ : loose_;
            waits.emplace_back(std::move(pattern), at);
        }
        node.detail = told.empty() ? "" : fmt::format("on {}", fmt::join(told, ", "));
        add_status(node, trigger, states);
        by_id_.emplace(node.id, at);
        graph_.nodes.push_back(std::move(node));
        triggers_.push_back(trigger);
    }

    static void add_status(graph::Node& node, const Value& trigger, const Value& states) {
        if (!states.is_list()) {
            if (member_of(trigger, "enabled") == Value{false}) {
                node.detail += ", disabled";
            }
            return;
        }
        auto fired = std::int64_t{0};
        for (const auto& state : states.as_list()) {
            const auto& count = member_of(state, "fired");
            fired += count.is_int() ? count.as_int() : 0;
        }
        node.status = fired == 0   ? "waits"
                      : fired == 1 ? "fired"
                                   : fmt::format("fired {} times", fired);
        node.tone = fired == 0 ? graph::Tone::Plain : graph::Tone::Good;
    }

    void add_effects(std::uint32_t from, const Value& action) {
        if (!action.is_map() || action.size() != 1) {
            return;
        }
        const auto& [name, params] = action.as_map().front();
        if (name == "enable" || name == "disable" || name == "remove" || name == "modify") {
            add_switch(from, params.is_map() ? member_of(params, "trigger") : params,
                       name == "modify" ? "modifies" : name + "s");
            return;
        }
        for (const auto& effect : effects_of(name, params)) {
            add_edges(from, effect);
        }
    }

    static std::vector<Effect> effects_of(std::string_view name, const Value& params) {
        auto subject = [&](const std::string& otherwise) {
            const auto& given = member_of(params, "subject");
            return written(given.is_string() ? given.as_string() : std::string_view{otherwise});
        };
        auto text = [&](std::string_view member) {
            return params.is_map() ? text_at(params, member) : plain(params);
        };
        if (name == "emit" && member_of(params, "to").is_null()) {
            return {{{written(text("type")), subject("")}, text("type")}};
        }
        if (name == "invoke") {
            auto about = subject(text("function"));
            auto call = "call " + text("function");
            return {{{written("sluice.task.succeeded"), about}, call},
                    {{written("sluice.task.failed"), about}, call + " fails"}};
        }
        if (name == "start") {
            auto about = subject(text("definition"));
            auto run = "run " + text("definition");
            return {{{written("sluice.run.succeeded"), about}, run},
                    {{written("sluice.run.failed"), about}, run + " fails"},
                    {{written("sluice.run.cancelled"), about}, run + " fails"},
                    {{written("sluice.run.timed_out"), about}, run + " fails"}};
        }
        if (name == "schedule") {
            auto type = text_at(params, "type");
            return {{{written(type.empty() ? "sluice.timer.fired" : type), subject(text("timer"))},
                     "timer " + text("timer")}};
        }
        return {};
    }

    void add_switch(std::uint32_t from, const Value& ids, const std::string& label) {
        for (const auto& id : items_of(ids)) {
            auto found = by_id_.find(plain(id));
            if (found != by_id_.end()) {
                add_edge(from, found->second, label, graph::Line::Dashed);
            }
        }
    }

    void add_edges(std::uint32_t from, const Effect& effect) {
        compare(from, effect, loose_);
        if (!is_exact(effect.event)) {
            compare(from, effect, exact_);
        } else if (auto found = exact_by_key_.find(key_of(effect.event));
                   found != exact_by_key_.end()) {
            for (auto to : found->second) {
                add_edge(from, to, effect.label);
            }
        }
    }

    void compare(std::uint32_t from, const Effect& effect,
                 const std::vector<std::pair<Pattern, std::uint32_t>>& waits) {
        for (const auto& [pattern, to] : waits) {
            if (++comparisons_ > comparisons_max) {
                return;
            }
            if (meet(pattern.type, effect.event.type) &&
                meet(pattern.subject, effect.event.subject)) {
                add_edge(from, to, effect.label);
            }
        }
    }

    /// Several actions that lead to the same are one edge.
    void add_edge(std::uint32_t from, std::uint32_t to, const std::string& label,
                  graph::Line line = graph::Line::Solid) {
        if (edges_.emplace(from, to).second) {
            graph_.edges.push_back({.from = from, .to = to, .label = label, .line = line});
        }
    }

    graph::Graph graph_;
    std::vector<Value> triggers_;
    std::vector<std::pair<Pattern, std::uint32_t>> exact_; ///< What they wait for,
    std::vector<std::pair<Pattern, std::uint32_t>> loose_; ///< also with prefixes.
    boost::unordered_flat_map<std::string, std::vector<std::uint32_t>> exact_by_key_;
    boost::unordered_flat_map<std::string, std::uint32_t> by_id_;
    std::set<std::pair<std::uint32_t, std::uint32_t>> edges_;
    std::size_t comparisons_ = 0;
};

} // namespace

graph::Graph draw(std::string title, std::span<const Value> triggers) {
    return TriggerDrawer{std::move(title), triggers}.draw();
}

} // namespace sluice::workflow::raw
