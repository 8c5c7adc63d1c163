#include "workflow/raw/internal/tree.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "value/json.h"
#include "workflow/raw/internal/limits.h"

namespace sluice::workflow::raw::internal {

bool Tree::expects_key() const {
    return !frames_.empty() && frames_.back().shape == Shape::Map && !frames_.back().has_key;
}

void Tree::begin(Shape shape, Place place) {
    if (frames_.size() >= depth_max_) {
        stop(place, fmt::format("found more than {} levels of lists and maps", depth_max_));
        return;
    }
    if (++values_ > values_max) {
        stop(place, fmt::format("found more than {} values", values_max));
        return;
    }
    auto frame = Frame{};
    frame.shape = shape;
    frame.place = place;
    frames_.push_back(std::move(frame));
}

Tree::Node Tree::end() {
    auto frame = std::move(frames_.back());
    frames_.pop_back();
    auto node = Node{};
    node.value = frame.shape == Shape::List ? Value::list(std::move(frame.items))
                                            : Value::map(std::move(frame.members));
    node.places = positions_.add(frame.parts);
    node.values = frame.values;
    node.depth = frame.depth;
    values_ -= frame.values;
    add(frame.place, node);
    return node;
}

void Tree::add(Place place, const Node& node) {
    values_ += node.values;
    if (values_ > values_max || frames_.size() + node.depth > depth_max_) {
        stop(place, fmt::format("found more than {} values or {} levels, with aliases followed",
                                values_max, depth_max_));
        return;
    }
    if (frames_.empty()) {
        root_ = node.value;
        has_root_ = true;
        positions_.set_root({.place = place, .node = node.places});
        return;
    }
    auto& frame = frames_.back();
    frame.values += node.values;
    frame.depth = std::max(frame.depth, node.depth + 1);
    if (frame.shape == Shape::List) {
        frame.items.push_back(node.value);
        frame.parts.push_back({.place = place, .node = node.places});
        return;
    }
    frame.members.push_back({std::move(frame.key), node.value});
    frame.parts.push_back({.place = frame.key_place, .node = node.places});
    frame.has_key = false;
}

void Tree::set_key(Place place, std::string key) {
    auto is_new = frames_.back().keys.insert(key).second;
    auto& frame = frames_.back();
    frame.key = std::move(key);
    frame.key_place = place;
    frame.has_key = true;
    if (!is_new) {
        report(place, "found this key again, expected it once");
    }
}

std::string Tree::path() const {
    auto path = std::string{};
    for (const auto& frame : frames_) {
        if (frame.shape == Shape::Map && !frame.has_key) {
            break;
        }
        path += path.empty() ? "" : "/";
        path += frame.shape == Shape::List ? fmt::to_string(frame.items.size()) : frame.key;
    }
    return path;
}

void Tree::report(Place place, std::string message) {
    if (findings_.size() < findings_max) {
        findings_.push_back({.file = file_,
                             .line = place.line,
                             .column = place.column,
                             .path = path(),
                             .message = std::move(message)});
    }
}

void Tree::stop(Place place, std::string message) {
    report(place, std::move(message));
    has_stopped_ = true;
}

std::expected<Document, std::vector<Finding>> Tree::finish() && {
    if (!findings_.empty()) {
        return std::unexpected(std::move(findings_));
    }
    return Document{
        .file = std::move(file_), .form = std::move(root_), .positions = std::move(positions_)};
}

} // namespace sluice::workflow::raw::internal
