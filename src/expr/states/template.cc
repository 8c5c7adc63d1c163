#include "expr/states/template.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/fingerprint.h"
#include "base/random.h"
#include "base/result.h"
#include "expr/states/internal/call.h"
#include "expr/states/internal/query.h"
#include "expr/states/internal/rooted_path.h"
#include "expr/states/internal/wording.h"
#include "value/json.h"
#include "value/pointer.h"

namespace sluice::expr::states {
namespace {

using internal::Call;
using internal::Query;
using internal::RootedPath;

constexpr std::size_t form_depth_max = 200;
constexpr auto open_mark = std::string_view{"{%"};
constexpr auto close_mark = std::string_view{"%}"};

struct Part;

struct PathPart {
    RootedPath path;
    std::string field; ///< The key it was written under, with its `.$`.
};
struct QueryPart {
    Query query;
    std::string field; ///< The way to it from the template's root: `/a/b`, `[0]`.
};
struct ListPart {
    std::vector<Part> items;
};
struct MapPart {
    std::vector<std::string> keys;
    std::vector<Part> members;
};

/// A piece of a template: a constant, what computes it, or what has such pieces in it.
struct Part {
    std::variant<Value, PathPart, Call, QueryPart, ListPart, MapPart> content;

    bool is_constant() const { return content.index() == 0; }
};

void add_names(std::vector<std::string>& names, const std::vector<std::string>& more) {
    for (const auto& name : more) {
        if (std::ranges::find(names, name) == names.end()) {
            names.push_back(name);
        }
    }
}

/// Turns a form into parts, gathering everything that is wrong with it.
class TemplateCompiler {
public:
    explicit TemplateCompiler(const TemplateSite& site) : site_{site} {}

    Part compile(const Value& form, const std::string& pointer, const std::string& field,
                 std::size_t depth) {
        if (depth > form_depth_max) {
            refuse(pointer, fmt::format("objects and arrays nest deeper than {}", form_depth_max));
            return {};
        }
        if (form.is_list()) {
            return compile_list(form, pointer, field, depth);
        }
        if (form.is_map()) {
            return compile_map(form, pointer, field, depth);
        }
        if (site_.language == Language::Jsonata && form.is_string()) {
            return compile_text(form, pointer, field);
        }
        return {form};
    }

    std::vector<TemplateProblem> problems;
    std::vector<std::string> variables;
    std::vector<std::string> input_readers;

private:
    void refuse(const std::string& pointer, std::string message) {
        problems.push_back({pointer, std::move(message)});
    }

    Part compile_list(const Value& form, const std::string& pointer, const std::string& field,
                      std::size_t depth) {
        auto made = ListPart{};
        auto at = std::size_t{0};
        for (const auto& item : form.as_list()) {
            made.items.push_back(compile(item, fmt::format("{}/{}", pointer, at),
                                         fmt::format("{}[{}]", field, at), depth + 1));
            ++at;
        }
        if (std::ranges::all_of(made.items, &Part::is_constant)) {
            return {form};
        }
        return {std::move(made)};
    }

    Part compile_map(const Value& form, const std::string& pointer, const std::string& field,
                     std::size_t depth) {
        auto made = MapPart{};
        for (const auto& [key, member] : form.as_map()) {
            if (site_.language == Language::JsonPath && key.ends_with(".$")) {
                add_computed(form, key, member, pointer, made);
                continue;
            }
            made.keys.push_back(key);
            made.members.push_back(compile(member, value::join_pointer(pointer, key),
                                           fmt::format("{}/{}", field, key), depth + 1));
        }
        if (std::ranges::all_of(made.members, &Part::is_constant)) {
            return {form};
        }
        return {std::move(made)};
    }

    /// `"key.$": "$.path"`
    void add_computed(const Value& form, const std::string& key, const Value& member,
                      const std::string& pointer, MapPart& made) {
        auto name = key.substr(0, key.size() - 2);
        if (form.find(name) != nullptr) {
            refuse(pointer, fmt::format("The field '{}' is given twice, as '{}' and as '{}'", name,
                                        name, key));
        }
        auto part = member.is_string() ? compile_computed(key, member.as_string()) : std::nullopt;
        if (!part) {
            refuse(pointer,
                   fmt::format("The value for the field '{}' must be a valid JSONPath or a "
                               "valid intrinsic function call",
                               key));
            return;
        }
        made.keys.push_back(std::move(name));
        made.members.push_back(*std::move(part));
    }

    std::optional<Part> compile_computed(const std::string& key, std::string_view text) {
        if (text.starts_with('$')) {
            auto path = RootedPath::compile(text, RootedPath::Form::Any);
            if (!path) {
                return std::nullopt;
            }
            if (!path->variable().empty()) {
                add_names(variables, {path->variable()});
            }
            return Part{PathPart{*std::move(path), key}};
        }
        auto call = Call::compile(text);
        if (!call) {
            return std::nullopt;
        }
        add_names(variables, call->variables());
        return Part{*std::move(call)};
    }

    Part compile_text(const Value& form, const std::string& pointer, const std::string& field) {
        auto text = form.as_string();
        if (!is_expression(text)) {
            return {form};
        }
        auto query = Query::compile(expression_in(text));
        if (!query) {
            refuse(pointer, fmt::format("The JSONata expression '{}' is not valid: {}",
                                        expression_in(text), query.error()));
            return {};
        }
        check_states(*query, pointer);
        add_names(variables, query->variables());
        if (query->reads_input()) {
            input_readers.push_back(query->text());
        }
        return {QueryPart{*std::move(query), field}};
    }

    void check_states(const Query& query, const std::string& pointer) {
        if (!site_.has_result && query.reads_state("result")) {
            refuse(pointer,
                   "$states.result can be used only in Assign and Output of Task, Parallel "
                   "and Map states");
        }
        if (!site_.has_error_output && query.reads_state("errorOutput")) {
            refuse(pointer,
                   "$states.errorOutput can be used only in Assign and Output of a catcher");
        }
    }

    const TemplateSite& site_;
};

/// One evaluation of a template.
class TemplateEvaluation {
public:
    TemplateEvaluation(const Sight& sight, std::string_view field)
        : sight_{sight}, field_{field}, chance_{sight.chance ^ hash64(field)} {}

    std::expected<Value, Failure> evaluate(const Part& part) {
        return std::visit([this](const auto& content) { return compute(content); }, part.content);
    }

private:
    using Outcome = std::expected<Value, Failure>;

    Outcome compute(const Value& constant) { return constant; }

    Outcome compute(const PathPart& part) {
        auto made = Value{};
        if (const auto* found = part.path.find(sight_, made)) {
            return *found;
        }
        // The service reads an index past the end as null here, and nowhere else.
        if (part.path.ends_outside_a_list(sight_)) {
            return Value{};
        }
        return std::unexpected(internal::not_found(part.path, part.field, sight_));
    }

    Outcome compute(const Call& call) { return call.evaluate(sight_, chance_); }

    Outcome compute(const QueryPart& part) {
        auto value = part.query.evaluate(sight_, chance_);
        if (!value) {
            return std::unexpected(internal::evaluation_failure(
                part.query.text(), fmt::format("{}{}", field_, part.field), value.error()));
        }
        return *std::move(value);
    }

    Outcome compute(const ListPart& part) {
        auto items = std::vector<Value>{};
        items.reserve(part.items.size());
        for (const auto& item : part.items) {
            items.push_back(TRY(evaluate(item)));
        }
        return Value::list(std::move(items));
    }

    Outcome compute(const MapPart& part) {
        auto members = std::vector<value::Member>{};
        members.reserve(part.members.size());
        for (auto at = std::size_t{0}; at < part.members.size(); ++at) {
            auto value = TRY(evaluate(part.members[at]));
            members.push_back({part.keys[at], std::move(value)});
        }
        return Value::map(std::move(members));
    }

    const Sight& sight_;
    std::string_view field_;
    Random chance_;
};

} // namespace

struct Template::Plan {
    Value form;
    Part root;
    std::vector<std::string> variables;
    std::vector<std::string> input_readers;
};

Template::Template(std::shared_ptr<const Plan> plan) : plan_{std::move(plan)} {}

std::expected<Template, std::vector<TemplateProblem>> Template::compile(const Value& form,
                                                                        const TemplateSite& site) {
    auto compiler = TemplateCompiler{site};
    auto root = compiler.compile(form, "", "", 0);
    if (!compiler.problems.empty()) {
        return std::unexpected(std::move(compiler.problems));
    }
    return Template{std::make_shared<const Plan>(Plan{
        form, std::move(root), std::move(compiler.variables), std::move(compiler.input_readers)})};
}

std::expected<Value, Failure> Template::evaluate(const Sight& sight, std::string_view field) const {
    if (const auto* constant = std::get_if<Value>(&plan_->root.content)) {
        return *constant;
    }
    return TemplateEvaluation{sight, field}.evaluate(plan_->root);
}

bool Template::is_constant() const {
    return plan_->root.is_constant();
}

const Value& Template::form() const {
    return plan_->form;
}

std::string_view Template::expression() const {
    const auto* part = std::get_if<QueryPart>(&plan_->root.content);
    return part != nullptr ? std::string_view{part->query.text()} : std::string_view{};
}

const std::vector<std::string>& Template::variables() const {
    return plan_->variables;
}

const std::vector<std::string>& Template::input_readers() const {
    return plan_->input_readers;
}

bool is_expression(std::string_view text) {
    return text.size() >= open_mark.size() + close_mark.size() && text.starts_with(open_mark) &&
           text.ends_with(close_mark);
}

std::string_view expression_in(std::string_view text) {
    if (!is_expression(text)) {
        return {};
    }
    text = text.substr(open_mark.size(), text.size() - open_mark.size() - close_mark.size());
    auto begin = text.find_first_not_of(" \t\r\n");
    return begin == std::string_view::npos
               ? text.substr(0, 0)
               : text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin);
}

Failure unexpected_type(const Template& source, std::string_view field, std::string_view expected,
                        const Value& value) {
    return internal::evaluation_failure(
        source.expression(), field,
        fmt::format("returned an unexpected result type. Expected '{}', but was '{}' for value: {}",
                    expected, internal::json_type_of(value), value::to_json(value)));
}

} // namespace sluice::expr::states
