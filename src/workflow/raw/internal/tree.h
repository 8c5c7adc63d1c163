#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "value/value.h"
#include "workflow/raw/parse.h"

namespace sluice::workflow::raw::internal {

enum class Shape : std::uint8_t { List, Map };

/// A form under construction, with its places, from the events of a reader.
///
/// It counts values as they would be with all aliases followed, so what would expand without
/// bounds is refused when the alias is met.
class Tree {
public:
    struct Node {
        Value value;
        Positions::Node places = Positions::leaf;
        std::size_t values = 1;
        std::size_t depth = 0;
    };

    Tree(std::string_view file, std::size_t depth_max) : file_(file), depth_max_(depth_max) {}

    std::size_t depth_max() const { return depth_max_; }

    void begin(Shape shape, Place place);
    /// The innermost list or map is complete.
    Node end();
    void add(Place place, const Node& node);
    bool expects_key() const;
    void set_key(Place place, std::string key);

    void report(Place place, std::string message);
    /// Reports, and nothing more is to be taken.
    void stop(Place place, std::string message);
    bool has_stopped() const { return has_stopped_; }
    bool has_root() const { return has_root_; }

    std::expected<Document, std::vector<Finding>> finish() &&;

private:
    struct Frame {
        Shape shape = Shape::List;
        Place place;
        std::vector<Value> items;
        std::vector<value::Member> members;
        std::vector<Positions::Part> parts;
        std::unordered_set<std::string> keys;
        std::string key;
        Place key_place;
        bool has_key = false;
        std::size_t values = 1;
        std::size_t depth = 1;
    };

    std::string path() const;

    std::string file_;
    std::size_t depth_max_;
    std::vector<Frame> frames_;
    Positions positions_;
    Value root_;
    bool has_root_ = false;
    bool has_stopped_ = false;
    std::size_t values_ = 0;
    std::vector<Finding> findings_;
};

} // namespace sluice::workflow::raw::internal
