#include "expr/jsonpath/internal/selection.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace sluice::expr::jsonpath::internal {
namespace {

std::int64_t size_of(const Node& list) {
    return static_cast<std::int64_t>(list.value->size());
}

bool is_container(const Value& value) {
    return value.is_list() || value.is_map();
}

void append_normalized(std::string_view name, std::string& out) {
    constexpr auto controls = std::string_view{"\b\t\n\f\r"};
    constexpr auto letters = std::string_view{"btnfr"};
    for (auto c : name) {
        if (c == '\'' || c == '\\') {
            out += '\\';
            out += c;
        } else if (auto at = controls.find(c); at != std::string_view::npos) {
            out += '\\';
            out += letters[at];
        } else if (static_cast<unsigned char>(c) < 0x20) {
            out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else {
            out += c;
        }
    }
}

} // namespace

Selection::Selection(const Value& root, Meter& meter, Places places)
    : root_{root}, meter_{meter}, keeps_places_{places == Places::Kept}, steps_(1) {}

Nodes Selection::select(const Query& query, Node current) {
    if (query.is_definite) {
        auto found = find(query, current);
        return found ? Nodes{*found} : Nodes{};
    }
    auto nodes = Nodes{query.is_from_root ? root() : current};
    for (const auto& segment : query.segments) {
        auto next = Nodes{};
        for (const auto& node : nodes) {
            if (meter_.is_exhausted()) {
                return {};
            }
            if (segment.is_descendant) {
                descend(segment, node, next);
            } else {
                apply(segment, node, next);
            }
        }
        nodes = std::move(next);
    }
    return nodes;
}

/// The way of most paths: no list of nodes is made.
std::optional<Node> Selection::find(const Query& query, Node current) {
    auto node = std::optional{query.is_from_root ? root() : current};
    for (const auto& segment : query.segments) {
        const auto& selector = segment.selectors.front();
        const auto* name = std::get_if<Name>(&selector);
        node =
            name != nullptr ? member(*node, name->text) : item(*node, std::get<Index>(selector).at);
        if (!node || !meter_.spend(1)) {
            return std::nullopt;
        }
    }
    return node;
}

void Selection::apply(const Segment& segment, const Node& node, Nodes& out) {
    for (const auto& selector : segment.selectors) {
        if (!meter_.spend(1)) {
            return;
        }
        std::visit([&](const auto& each) { pick(each, node, out); }, selector);
    }
}

/// RFC 9535, 2.5.2.2: a node before its descendants, items in their order.
void Selection::descend(const Segment& segment, const Node& node, Nodes& out) {
    if (!is_container(*node.value)) {
        return;
    }
    if (++depth_ > value_depth_max) {
        meter_.exhaust();
    }
    auto was_descending = std::exchange(is_descending_, true);
    apply(segment, node, out);
    is_descending_ = was_descending;
    auto children = Nodes{};
    pick(Wildcard{}, node, children);
    for (const auto& each : children) {
        if (meter_.is_exhausted()) {
            break;
        }
        descend(segment, each, out);
    }
    --depth_;
}

void Selection::pick(const Name& name, const Node& node, Nodes& out) {
    if (auto found = member(node, name.text)) {
        out.push_back(*found);
    }
}

void Selection::pick(const Index& index, const Node& node, Nodes& out) {
    if (auto found = item(node, index.at)) {
        out.push_back(*found);
    }
}

/// RFC 9535, 2.3.4.2.2.
void Selection::pick(const Slice& slice, const Node& node, Nodes& out) {
    if (!node.value->is_list() || slice.step == 0) {
        return;
    }
    auto size = size_of(node);
    auto is_forward = slice.step > 0;
    auto normal = [&](std::int64_t at) { return at < 0 ? at + size : at; };
    auto start = normal(slice.start.value_or(is_forward ? 0 : size - 1));
    auto end = slice.end ? normal(*slice.end) : is_forward ? size : -1;
    if (is_forward) {
        auto upper = std::min(end, size);
        for (auto at = std::max<std::int64_t>(start, 0); at < upper && meter_.spend(1);
             at += slice.step) {
            out.push_back(*item(node, at));
        }
    } else {
        auto lower = std::max<std::int64_t>(end, -1);
        for (auto at = std::min(start, size - 1); at > lower && meter_.spend(1); at += slice.step) {
            out.push_back(*item(node, at));
        }
    }
}

void Selection::pick(const Wildcard&, const Node& node, Nodes& out) {
    if (!is_container(*node.value) || !meter_.spend(node.value->size())) {
        return;
    }
    if (node.value->is_map()) {
        for (const auto& [key, value] : node.value->as_map()) {
            out.push_back(child(node, key, value));
        }
        return;
    }
    auto at = std::size_t{0};
    for (const auto& value : node.value->as_list()) {
        out.push_back(child(node, at++, value));
    }
}

void Selection::pick(const Filter& filter, const Node& node, Nodes& out) {
    if (filter.tests_objects_whole && node.value->is_map()) {
        if (holds(filter, *node.value)) {
            out.push_back(node);
        }
        return;
    }
    // On its way down Jayway meets each object for itself.
    auto leaves_objects = filter.tests_objects_whole && is_descending_;
    auto candidates = Nodes{};
    pick(Wildcard{}, node, candidates);
    for (const auto& candidate : candidates) {
        if (meter_.is_exhausted()) {
            return;
        }
        if (!(leaves_objects && candidate.value->is_map()) && holds(filter, *candidate.value)) {
            out.push_back(candidate);
        }
    }
}

std::optional<Node> Selection::member(const Node& node, std::string_view name) {
    const auto* found = node.value->find(name);
    return found != nullptr ? std::optional{child(node, name, *found)} : std::nullopt;
}

std::optional<Node> Selection::item(const Node& node, std::int64_t index) {
    if (!node.value->is_list()) {
        return std::nullopt;
    }
    auto size = size_of(node);
    auto at = index < 0 ? index + size : index;
    if (at < 0 || at >= size) {
        return std::nullopt;
    }
    auto place = static_cast<std::size_t>(at);
    return child(node, place, node.value->as_list()[place]);
}

Node Selection::child(const Node& node, std::variant<std::string_view, std::size_t> key,
                      const Value& value) {
    if (!keeps_places_) {
        return {&value, 0};
    }
    steps_.push_back({node.place, key});
    return {&value, static_cast<std::uint32_t>(steps_.size() - 1)};
}

std::string Selection::normalized_path(std::uint32_t place) const {
    auto way = std::vector<const Step*>{};
    for (; place != 0; place = steps_[place].parent) {
        way.push_back(&steps_[place]);
    }
    auto out = std::string{"$"};
    for (auto step = way.rbegin(); step != way.rend(); ++step) {
        if (const auto* index = std::get_if<std::size_t>(&(*step)->key)) {
            out += fmt::format("[{}]", *index);
        } else {
            out += "['";
            append_normalized(std::get<std::string_view>((*step)->key), out);
            out += "']";
        }
    }
    return out;
}

} // namespace sluice::expr::jsonpath::internal
