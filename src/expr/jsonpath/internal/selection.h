#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "expr/jsonpath/internal/query.h"
#include "expr/meter.h"
#include "expr/program.h"
#include "value/value.h"

namespace sluice::expr::jsonpath::internal {

struct Node {
    const Value* value = nullptr;
    std::uint32_t place = 0; ///< Where it stands, when places are kept.
};

using Nodes = std::vector<Node>;

enum class Places : std::uint8_t { Forgotten, Kept };

/// One evaluation of a path: all its state, none of it in the path. When the meter is exhausted
/// what it answers means nothing.
class Selection {
public:
    Selection(const Value& root, Meter& meter, Places places);

    /// What the segments select; the function at the path's end is not called.
    Nodes select(const Query& query, Node current);
    /// The same as values, with the function called.
    std::expected<std::vector<Value>, Fault> read_all(const Query& query, Node current);
    Node root() const { return {&root_, 0}; }
    /// RFC 9535, 2.7.
    std::string normalized_path(std::uint32_t place) const;

private:
    struct Step {
        std::uint32_t parent = 0;
        std::variant<std::string_view, std::size_t> key;
    };

    std::optional<Node> find(const Query& query, Node current);
    void apply(const Segment& segment, const Node& node, Nodes& out);
    void descend(const Segment& segment, const Node& node, Nodes& out);
    void pick(const Name& name, const Node& node, Nodes& out);
    void pick(const Index& index, const Node& node, Nodes& out);
    void pick(const Slice& slice, const Node& node, Nodes& out);
    void pick(const Wildcard& wildcard, const Node& node, Nodes& out);
    void pick(const Filter& filter, const Node& node, Nodes& out);
    std::optional<Node> member(const Node& node, std::string_view name);
    std::optional<Node> item(const Node& node, std::int64_t index);
    Node child(const Node& node, std::variant<std::string_view, std::size_t> key,
               const Value& value);

    /// The value of an operand; null when there is none.
    const Value* evaluate(const Expression& operand, const Value& current);
    bool holds(const Filter& filter, const Value& current);
    bool test(const Expression& expression, const Value& current);
    bool compare(const Expression& expression, const Value& current);
    bool matches(const Expression& expression, const Value& current);
    const Value* call(const Expression& expression, const Value& current);
    const Value* read(const Query& query, const Value& current);
    const Value* keep(Value value);
    const re2::RE2* pattern_of(const Expression& expression, const Value* text);

    const Value& root_;
    Meter& meter_;
    bool keeps_places_;
    bool is_descending_ = false;
    std::size_t depth_ = 0;
    std::vector<Step> steps_;
    std::deque<Value> made_; ///< What functions yield, for as long as this lives.
    std::string last_pattern_;
    std::shared_ptr<const re2::RE2> last_regexp_;
};

} // namespace sluice::expr::jsonpath::internal
