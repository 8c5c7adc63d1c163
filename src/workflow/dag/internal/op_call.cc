#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "trigger/arrival.h"
#include "trigger/form_reader.h"
#include "workflow/dag/internal/expansion.h"
#include "workflow/dag/internal/operators.h"
#include "workflow/dag/internal/settings.h"
#include "workflow/dag/internal/words.h"
#include "workflow/dag/step.h"

namespace sluice::workflow::dag::internal {

namespace {

using trigger::Attempt;

Value member_of(Step& step, std::string_view name) {
    return step.firing().event().data_at(std::array{name}).value_or(Value{});
}

/// Calls a function, or starts a run and waits for its end.
class CallOperator final : public Operator {
public:
    trigger::TaskKind kind = trigger::TaskKind::Call;
    Template target;
    Template input;
    std::optional<Template> child; ///< The id of the run; nothing: one is made.
    Value policy;
    bool expands = false; ///< What it gives are more tasks.

    Attempt<void> start(Step& step) const override {
        auto call = Call{.kind = kind, .policy = policy};
        call.target = TRY(evaluate_text(step, target, "what to call"));
        call.input = TRY(step.input(input));
        if (child) {
            call.child = TRY(child_id(step));
            call.policy = Value::object({{"adopt", true}});
        }
        step.call(std::move(call));
        return {};
    }

    Attempt<void> take(Step& step) const override {
        if (step.firing().event().type() == words::body_ended) {
            end_body(step);
            return {};
        }
        if (!step.is_active()) {
            return {};
        }
        auto type = step.firing().event().type();
        if (type == trigger::types::task_succeeded || type == trigger::types::run_succeeded) {
            if (expands) {
                return expand(step, member_of(step, "result"));
            }
            step.succeed(member_of(step, "result"));
            return {};
        }
        auto error = member_of(step, "error");
        if (!error.is_map() || error.find("kind") == nullptr) {
            auto ended = type.substr(type.rfind('.') + 1); // A nested run that was cancelled.
            error = Value::object(
                {{"kind", ended}, {"message", fmt::format("the nested run was {}", ended)}});
        }
        step.fail(error);
        return {};
    }

private:
    Attempt<std::string> child_id(const Step& step) const {
        auto id = TRY(evaluate_text(step, *child, "id"));
        if (!trigger::is_given_run_id(id)) {
            return std::unexpected(
                expr::Fault{.code = "invalid_run",
                            .message = fmt::format("\"{}\" cannot be a run's id: expected {}", id,
                                                   trigger::given_run_id_rule)});
        }
        return id;
    }
};

bool read_expand(const Value& task, Problems& problems) {
    const auto* expand = task.find("expand");
    if (expand != nullptr && !expand->is_bool()) {
        trigger::report(problems, "expand",
                        fmt::format("found {}, expected true where the function gives more tasks",
                                    trigger::describe(*expand)));
        return false;
    }
    return expand != nullptr && expand->as_bool();
}

} // namespace

Template read_text(const Value& form, std::string_view member, std::string_view expected,
                   const std::string& path, const ExpressionSite& site, Problems& problems) {
    const auto* text = form.find(member);
    if (text == nullptr || !text->is_string() || text->size() == 0) {
        trigger::report(
            problems, path.empty() ? std::string{member} : trigger::join_path(path, member),
            fmt::format("found {}, expected {}",
                        trigger::describe(text == nullptr ? Value{} : *text), expected));
        return {};
    }
    return read_template(form, member, path, site, problems);
}

Attempt<std::string> evaluate_text(const Step& step, const Template& pattern, std::string_view what,
                                   const std::vector<std::pair<std::string, Value>>& locals) {
    auto value = TRY(step.evaluate(pattern, locals));
    if (!value.is_string()) {
        return std::unexpected(expr::Fault{
            .code = "wrong_kind",
            .message = fmt::format("{} is a {}: expected a text", what, to_string(value.kind()))});
    }
    return std::string{value.as_string()};
}

OperatorPtr make_call(const Value& task, const ExpressionSite& site, Problems& problems) {
    auto made = std::make_shared<CallOperator>();
    made->target = read_text(task, "call", "the name of a function", "", site, problems);
    made->input = read_template(task, "input", "", site, problems);
    made->policy = with_large(task, read_policy(task, "", problems));
    made->expands = read_expand(task, problems);
    return made;
}

OperatorPtr make_subworkflow(const Value& task, const ExpressionSite& site, Problems& problems) {
    auto made = std::make_shared<CallOperator>();
    made->kind = trigger::TaskKind::Run;
    made->target = read_text(task, "subworkflow", "the name of a definition", "", site, problems);
    made->input = read_template(task, "input", "", site, problems);
    if (task.find("id") != nullptr) {
        made->child = read_text(task, "id", "the id of the run", "", site, problems);
    }
    return made;
}

} // namespace sluice::workflow::dag::internal
