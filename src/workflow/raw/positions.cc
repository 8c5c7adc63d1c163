#include "workflow/raw/positions.h"

#include <charconv>
#include <optional>

namespace sluice::workflow::raw {

namespace {

/// A step down: which part, and how many bytes of the path name it.
struct Step {
    std::size_t part = 0;
    std::size_t bytes = 0;
};

std::string_view first_segment(std::string_view path) {
    return path.substr(0, path.find('/'));
}

std::optional<Step> step_into_list(const Value& list, std::string_view path) {
    auto segment = first_segment(path);
    auto index = std::size_t{0};
    auto [end, error] = std::from_chars(segment.data(), segment.data() + segment.size(), index);
    auto is_index = error == std::errc{} && end == segment.data() + segment.size();
    if (!is_index || index >= list.size()) {
        return std::nullopt;
    }
    return Step{.part = index, .bytes = segment.size()};
}

/// Keys may hold slashes, so the longest key that the path begins with is meant.
std::optional<Step> step_into_map(const Value& map, std::string_view path) {
    auto best = std::optional<Step>{};
    auto part = std::size_t{0};
    for (const auto& [key, member] : map.as_map()) {
        auto is_begin =
            path.starts_with(key) && (path.size() == key.size() || path[key.size()] == '/');
        if (is_begin && (!best || key.size() > best->bytes)) {
            best = Step{.part = part, .bytes = key.size()};
        }
        ++part;
    }
    return best;
}

std::optional<Step> step_into(const Value& value, std::string_view path) {
    if (value.is_list()) {
        return step_into_list(value, path);
    }
    return value.is_map() ? step_into_map(value, path) : std::nullopt;
}

std::string_view drop_segment(std::string_view path, std::size_t bytes) {
    return path.substr(std::min(bytes + 1, path.size()));
}

void append(std::string& path, std::string_view segment) {
    path += path.empty() ? "" : "/";
    path += segment;
}

} // namespace

Positions::Node Positions::add(std::span<const Part> parts) {
    nodes_.push_back({.first = static_cast<std::uint32_t>(parts_.size()),
                      .count = static_cast<std::uint32_t>(parts.size())});
    parts_.insert(parts_.end(), parts.begin(), parts.end());
    return static_cast<Node>(nodes_.size() - 1);
}

Positions::Located Positions::locate(const Value& form, std::string_view path) const {
    auto found = Located{.place = root_.place, .path = {}};
    const auto* value = &form;
    auto node = root_.node;
    while (!path.empty()) {
        auto step = step_into(*value, path);
        if (!step && !value->is_list() && first_segment(path) == "0") {
            path = drop_segment(path, 1);
            continue;
        }
        if (!step || node == leaf || step->part >= nodes_[node].count) {
            break;
        }
        const auto& part = parts_[nodes_[node].first + step->part];
        value =
            value->is_list() ? &value->as_list()[step->part] : &value->as_map()[step->part].value;
        append(found.path, path.substr(0, step->bytes));
        found.place = part.place;
        node = part.node;
        path = drop_segment(path, step->bytes);
    }
    if (!path.empty()) {
        append(found.path, path);
    }
    return found;
}

} // namespace sluice::workflow::raw
