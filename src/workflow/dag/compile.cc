#include "workflow/dag/compile.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "trigger/arrival.h"
#include "workflow/dag/internal/begin_action.h"
#include "workflow/dag/internal/graph.h"
#include "workflow/dag/internal/keeping.h"
#include "workflow/dag/internal/own_function.h"
#include "workflow/dag/internal/words.h"
#include "workflow/dag/parse.h"
#include "workflow/raw/function_form.h"

namespace sluice::workflow::dag {

namespace {

constexpr auto common_names = std::ptrdiff_t{5}; // input, tasks, context, run, now.

Value texts(const std::vector<std::string>& lines) {
    return Value::list(std::vector<Value>(lines.begin(), lines.end()));
}

Value number(std::size_t count) {
    return Value{static_cast<std::int64_t>(count)};
}

/// Appends the triggers of a flow and of the bodies in it, those of a task behind those it waits
/// for.
class FlowCompiler {
public:
    FlowCompiler(const Flow& flow, const Operators& operators, std::vector<Value>& triggers,
                 std::vector<raw::FunctionForm>& functions, const internal::Keeping* keeping)
        : flow_(flow),
          operators_(operators),
          triggers_(triggers),
          functions_(functions),
          keeping_(keeping) {
        ends_.reserve(flow.tasks.size());
        for (const auto& task : flow.tasks) {
            ends_.push_back(
                Value::object({{"type", words::done_pattern}, {"subject", flow.id_of(task.name)}}));
        }
    }

    void compile(const Value& end) {
        auto graph = internal::Graph{flow_};
        for (auto at : graph.order()) {
            add_task(flow_.tasks[at]);
        }
        if (groups_.count() > 1) {
            add_begin();
        }
        add_end(graph.finals(), end);
    }

private:
    /// What expressions need to be read again.
    Value with_site(Value params) const {
        if (flow_.site.language == Language::Jsonata) {
            params = params.with("lang", "jsonata");
        }
        auto own = std::vector<std::string>(flow_.site.names.begin() + common_names,
                                            flow_.site.names.end());
        if (!own.empty()) {
            params = params.with("names", texts(own));
        }
        return flow_.prefixes.empty() ? params : params.with("within", texts(flow_.prefixes));
    }

    Value params_of(const FlowTask& task) {
        auto members = std::vector<value::Member>{};
        for (const auto& [name, member] : task.form.as_map()) {
            if (name != "after" && name != "description") {
                members.push_back({name, member});
            }
        }
        auto params = Value::map(std::move(members));
        if (auto function = internal::function_of(task.kind, task.form, flow_.id_of(task.name))) {
            const auto& own = *task.form.find(task.kind);
            // Another script is another version of the definition.
            params = internal::as_call(task.kind, params, function->name)
                         .with("own", own.is_map() ? own.without("body") : own);
            functions_.push_back(*std::move(function));
        }
        if (task.is_handler()) {
            params = params.with("rule", "caught");
        }
        if (!task.upstream().empty()) {
            params = params.with("of", number(task.upstream().size()));
        }
        if (task.body) {
            params = params.with("map", params.find("map")->with("tasks", true));
        }
        if (auto kept = keeping_ == nullptr ? "" : keeping_->of(task); !kept.empty()) {
            params = params.with("large", kept);
        }
        return with_site(std::move(params));
    }

    std::vector<Value> patterns_of(const FlowTask& task, const std::string& id) {
        auto patterns = std::vector<Value>{};
        for (auto before : task.upstream()) {
            patterns.push_back(ends_[before]);
        }
        if (patterns.empty()) {
            patterns.push_back(beginning());
        }
        patterns.push_back(Value::object({{"type", "sluice.task.*"}, {"subject", id}}));
        auto kind = operators_.find(task.kind);
        auto has_timer = task.form.find("deadline") != nullptr;
        if (kind != operators_.end() && kind->second.patterns) {
            for (auto& pattern : kind->second.patterns(task.form, id)) {
                auto type = pattern.find("type");
                has_timer &= type == nullptr || *type != Value{"sluice.timer.fired"};
                patterns.push_back(std::move(pattern));
            }
        }
        if (has_timer) {
            patterns.push_back(Value::object({{"type", "sluice.timer.fired"}, {"subject", id}}));
        }
        return patterns;
    }

    Value beginning() {
        if (flow_.prefixes.empty()) {
            auto group = groups_.next();
            return group == 0 ? Value{trigger::types::run_started}
                              : Value::object({{"type", words::tasks_begun},
                                               {"subject", std::to_string(group)}});
        }
        auto owner = flow_.prefixes.back();
        owner.pop_back();
        return Value::object({{"type", words::body_opened}, {"subject", owner}});
    }

    static Value condition_of(const FlowTask& task) {
        auto params = Value::object({{"of", number(task.upstream().size())}});
        if (task.rule == Rule::OneSuccess || task.rule == Rule::KOfN) {
            params = params.with("enough", number(task.rule == Rule::KOfN ? task.needed : 1));
        }
        return Value::object({{std::string{words::task_term}, std::move(params)}});
    }

    void add_task(const FlowTask& task) {
        auto id = flow_.id_of(task.name);
        triggers_.push_back(Value::object(
            {{"id", id},
             {"on", Value::list(patterns_of(task, id))},
             {"condition", condition_of(task)},
             {"action", Value::object({{std::string{words::task_term}, params_of(task)}})},
             {"lifetime", "persistent"}}));
        if (task.body) {
            auto end = Value::object({{"owner", id}});
            if (const auto* result = task.form.find("map")->find("result")) {
                end = end.with("result", *result);
            }
            FlowCompiler{*task.body, operators_, triggers_, functions_, keeping_}.compile(end);
        }
    }

    void add_begin() {
        auto groups = Value::object({{"groups", number(groups_.count())}});
        triggers_.push_back(
            Value::object({{"id", words::begin},
                           {"on", Value::list({Value{trigger::types::run_started},
                                               Value{trigger::types::run_reopened}})},
                           {"action", Value::object({{std::string{words::begin_term}, groups}})},
                           {"lifetime", "persistent"}}));
    }

    void add_end(const internal::Graph::Finals& finals, const Value& params) {
        auto id = flow_.id_of(words::end);
        auto patterns = std::vector<Value>{};
        for (auto at : finals.tasks) {
            patterns.push_back(ends_[at]);
        }
        if (flow_.prefixes.empty()) {
            patterns.push_back("sluice.run.reopened");
        }
        auto undoes = std::ranges::any_of(flow_.tasks, [](const FlowTask& task) {
            return task.form.find("on_failure") != nullptr;
        });
        if (flow_.prefixes.empty() || undoes) {
            patterns.push_back(Value::object({{"type", "sluice.task.*"}, {"subject", id}}));
        }
        auto of = number(finals.tasks.size());
        auto end = params.with("of", of).with("last", number(finals.last));
        if (!flow_.prefixes.empty() && undoes) {
            end = end.with("undoes", true);
        }
        triggers_.push_back(Value::object(
            {{"id", id},
             {"on", Value::list(std::move(patterns))},
             {"condition",
              Value::object({{std::string{words::task_term}, Value::object({{"of", of}})}})},
             {"action", Value::object({{std::string{words::end_term}, with_site(end)}})},
             {"lifetime", "persistent"}}));
    }

    const Flow& flow_;
    const Operators& operators_;
    std::vector<Value>& triggers_;
    std::vector<raw::FunctionForm>& functions_;
    const internal::Keeping* keeping_; ///< Null: all results are kept by value.
    internal::BeginGroups groups_;
    std::vector<Value> ends_; ///< By task: the pattern of its end, shared by those behind it.
};

raw::Definition compile_one(const Value& form, const std::string& name, const Operators& operators,
                            const Flow* read = nullptr) {
    auto problems = Problems{};
    auto own = read == nullptr ? parse(form, operators, problems) : nullptr;
    const auto& flow = read == nullptr ? *own : *read;
    auto triggers = std::vector<Value>{};
    auto end = Value::map({});
    for (const auto* member : {"result", "fail_fast"}) {
        if (const auto* found = form.find(member)) {
            end = end.with(member, *found);
        }
    }
    auto definition = raw::Definition{};
    auto keeping = internal::Keeping{flow, form.find("result")};
    FlowCompiler{flow, operators, triggers, definition.functions, &keeping}.compile(end);
    auto set = Value::object(
        {{"name", name}, {"triggers", Value::list(std::move(triggers))}, {"unmatched", "drop"}});
    for (const auto* member : {"timeout", "retention", "context", "strategy"}) {
        if (const auto* found = form.find(member)) {
            set = set.with(member, *found);
        }
    }
    definition.name = name;
    definition.language = "dag";
    definition.form = std::move(set);
    return definition;
}

} // namespace

std::vector<Value> compile_body(const Flow& body, const Value& result, const Operators& operators) {
    auto triggers = std::vector<Value>{};
    auto functions = std::vector<raw::FunctionForm>{};
    auto owner = body.prefixes.back();
    owner.pop_back();
    auto end = Value::object({{"owner", owner}});
    // What a run adds to itself stays as earlier releases decided it, so that they are replayed.
    FlowCompiler{body, operators, triggers, functions, nullptr}.compile(
        result.is_null() ? end : end.with("result", result));
    return triggers;
}

raw::Definition compile(const Value& form, const Operators& operators, const Flow* read) {
    auto definition =
        compile_one(form, std::string{form.find("name")->as_string()}, operators, read);
    if (const auto* nested = form.find("definitions")) {
        for (const auto& [name, inner] : nested->as_map()) {
            definition.nested.push_back(is_dag(inner) ? compile_one(inner, name, operators)
                                                      : raw::compile(inner.with("name", name)));
            auto& own = definition.nested.back().functions;
            std::ranges::move(own, std::back_inserter(definition.functions));
            own.clear();
        }
    }
    auto problems = Problems{};
    if (const auto* section = form.find("functions")) {
        std::ranges::move(raw::read_functions(*section, problems),
                          std::back_inserter(definition.functions));
    }
    if (const auto* input = form.find("input")) {
        definition.input = *input;
        definition.form = definition.form.with("input", *input);
    }
    return definition;
}

} // namespace sluice::workflow::dag
