#include "expr/jsonpath/path.h"

#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/result.h"
#include "expr/jsonpath/internal/jayway_parser.h"
#include "expr/jsonpath/internal/query.h"
#include "expr/jsonpath/internal/rfc_parser.h"
#include "expr/jsonpath/internal/selection.h"
#include "expr/jsonpath/internal/tail_function.h"
#include "expr/meter.h"
#include "value/json.h"

namespace sluice::expr::jsonpath {
namespace {

std::unexpected<Fault> spent() {
    return std::unexpected(Fault{"budget", "the path looks at more than its budget allows", 0});
}

/// What the caller gets is a list of 16 bytes a value: the values themselves are shared.
bool is_within(Meter& meter, std::size_t count) {
    return !meter.is_exhausted() && meter.spend_output(count * sizeof(Value));
}

const Value* step_into(const Value& parent, const internal::Segment& segment) {
    const auto& selector = segment.selectors.front();
    if (const auto* name = std::get_if<internal::Name>(&selector)) {
        return parent.find(name->text);
    }
    auto size = static_cast<std::int64_t>(parent.size());
    auto index = std::get<internal::Index>(selector).at;
    auto at = index < 0 ? index + size : index;
    return parent.is_list() && at >= 0 && at < size
               ? &parent.as_list()[static_cast<std::size_t>(at)]
               : nullptr;
}

void append_step(const internal::Segment& segment, std::string& out) {
    const auto& selector = segment.selectors.front();
    if (const auto* name = std::get_if<internal::Name>(&selector)) {
        out += fmt::format("['{}']", name->text);
    } else {
        out += fmt::format("[{}]", std::get<internal::Index>(selector).at);
    }
}

} // namespace

Path::Path(std::string_view text, std::shared_ptr<const internal::Query> query)
    : text_{text}, query_{std::move(query)} {}

std::expected<Path, Fault> Path::compile(std::string_view text, Dialect dialect) {
    auto query =
        TRY(dialect == Dialect::Rfc9535 ? internal::parse_rfc(text) : internal::parse_jayway(text));
    return Path{text, std::make_shared<const internal::Query>(std::move(query))};
}

bool Path::is_definite() const {
    return internal::yields_one(*query_);
}

bool Path::is_plain() const {
    return query_->is_definite && !query_->tail && query_->is_from_root;
}

const Value* Path::find(const Value& root) const {
    const auto* found = &root;
    for (const auto& segment : query_->segments) {
        found = step_into(*found, segment);
        if (found == nullptr) {
            return nullptr;
        }
    }
    return found;
}

std::string Path::explain_missing(const Value& root) const {
    const auto& segments = query_->segments;
    auto way = std::string{"$"};
    const auto* parent = &root;
    auto at = std::size_t{0};
    while (at < segments.size() && step_into(*parent, segments[at]) != nullptr) {
        append_step(segments[at], way);
        parent = step_into(*parent, segments[at++]);
    }
    if (at == segments.size()) {
        return {};
    }
    auto step = std::string{};
    append_step(segments[at], step);
    auto is_name = std::holds_alternative<internal::Name>(segments[at].selectors.front());
    if (is_name && !parent->is_map()) {
        return fmt::format("Expected to find an object with property {} in path {} but found '{}'",
                           step, way, value::to_string(parent->kind()));
    }
    if (!is_name && !parent->is_list()) {
        return fmt::format("Filter: {} can only be applied to arrays. Current context is: {}", step,
                           value::to_json(*parent));
    }
    if (is_name && at + 1 < segments.size()) {
        return fmt::format("Missing property in path {}{}", way, step);
    }
    for (; at < segments.size(); ++at) {
        append_step(segments[at], way);
    }
    return fmt::format("No results for path: {}", way);
}

std::string Path::missing_step(const Value& root) const {
    const auto* parent = &root;
    for (const auto& segment : query_->segments) {
        parent = step_into(*parent, segment);
        if (parent == nullptr) {
            const auto* name = std::get_if<internal::Name>(&segment.selectors.front());
            return name != nullptr
                       ? name->text
                       : std::to_string(std::get<internal::Index>(segment.selectors.front()).at);
        }
    }
    return {};
}

bool Path::ends_outside_a_list(const Value& root) const {
    const auto* parent = &root;
    for (auto at = std::size_t{0}; parent != nullptr && at < query_->segments.size(); ++at) {
        const auto& segment = query_->segments[at];
        auto is_last = at + 1 == query_->segments.size();
        if (is_last && std::holds_alternative<internal::Index>(segment.selectors.front())) {
            return parent->is_list() && step_into(*parent, segment) == nullptr;
        }
        parent = step_into(*parent, segment);
    }
    return false;
}

std::expected<std::vector<Value>, Fault> Path::select(const Value& root,
                                                      const Budget& budget) const {
    auto meter = Meter{budget};
    auto selection = internal::Selection{root, meter, internal::Places::Forgotten};
    auto values = selection.read_all(*query_, selection.root());
    if (!is_within(meter, values ? values->size() : 0)) {
        return spent();
    }
    return values;
}

std::expected<std::vector<Match>, Fault> Path::locate(const Value& root,
                                                      const Budget& budget) const {
    auto meter = Meter{budget};
    auto selection = internal::Selection{root, meter, internal::Places::Kept};
    auto matches = std::vector<Match>{};
    for (const auto& node : selection.select(*query_, selection.root())) {
        matches.push_back({selection.normalized_path(node.place), *node.value});
        if (!meter.spend_output(sizeof(Match) + matches.back().path.size())) {
            break;
        }
    }
    if (meter.is_exhausted()) {
        return spent();
    }
    return matches;
}

std::expected<Value, Fault> Path::read(const Value& root, const Budget& budget) const {
    if (is_plain() && query_->segments.size() <= budget.steps_max) {
        if (const auto* found = find(root)) {
            return *found;
        }
    }
    auto values = TRY(select(root, budget));
    if (!is_definite()) {
        return Value::list(std::move(values));
    }
    if (values.empty()) {
        return std::unexpected(
            Fault{"no_such_member", fmt::format("nothing is found at {}", text_), 0});
    }
    return std::move(values.front());
}

} // namespace sluice::expr::jsonpath
