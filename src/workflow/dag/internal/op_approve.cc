#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "trigger/form_reader.h"
#include "value/time_text.h"
#include "workflow/dag/internal/operators.h"
#include "workflow/dag/internal/settings.h"
#include "workflow/dag/internal/words.h"
#include "workflow/dag/step.h"

namespace sluice::workflow::dag::internal {

namespace {

using trigger::Attempt;

constexpr std::string_view field_kinds[] = {"text", "number", "integer", "boolean"};

bool is_field(const Value& form) {
    if (form.is_list()) {
        return form.size() > 0;
    }
    if (!form.is_string()) {
        return false;
    }
    auto kind = form.as_string();
    kind.remove_suffix(kind.ends_with('?') ? 1 : 0);
    return std::ranges::find(field_kinds, kind) != std::end(field_kinds);
}

bool is_of(const Value& value, std::string_view kind) {
    return kind == "text"      ? value.is_string()
           : kind == "number"  ? value.is_number()
           : kind == "boolean" ? value.is_bool()
                               : value.is_int() || value.is_uint();
}

std::unexpected<expr::Fault> invalid(std::string message) {
    return std::unexpected(expr::Fault{.code = "invalid_form", .message = std::move(message)});
}

Attempt<void> check_field(const std::string& name, const Value& field, const Value* given) {
    if (field.is_list()) {
        if (given == nullptr ||
            std::ranges::find(field.as_list(), *given) == field.as_list().end()) {
            return invalid(fmt::format("{}: found {}, expected one of the {} choices", name,
                                       trigger::describe(given == nullptr ? Value{} : *given),
                                       field.size()));
        }
        return {};
    }
    auto kind = field.as_string();
    auto is_optional = kind.ends_with('?');
    kind.remove_suffix(is_optional ? 1 : 0);
    if (given == nullptr ? !is_optional : !is_of(*given, kind)) {
        return invalid(fmt::format("{}: found {}, expected a {}", name,
                                   trigger::describe(given == nullptr ? Value{} : *given), kind));
    }
    return {};
}

/// Waits for a person, who may fill in a form.
class ApproveOperator final : public Operator {
public:
    Value form; ///< Fields to kinds or choices; null: none.
    Template message;

    Attempt<void> start(Step& step) const override {
        auto told = TRY(step.evaluate(message));
        auto memory = step.memory().with("status", words::waiting).with("form", form);
        step.remember(told.is_null() ? memory : memory.with("message", std::move(told)));
        return {};
    }
};

} // namespace

OperatorPtr make_approve(const Value& task, const ExpressionSite& site, Problems& problems) {
    auto made = std::make_shared<ApproveOperator>();
    const auto& form = *task.find("approve");
    if (form.is_null()) {
        return made;
    }
    if (form.is_string()) {
        made->message = read_template(task, "approve", "", site, problems);
        return made;
    }
    auto reader = trigger::FormReader{form, "approve", problems, {"form", "message"}};
    made->form = reader.map("form");
    if (made->form.is_map()) {
        for (const auto& [name, field] : made->form.as_map()) {
            if (!is_field(field)) {
                trigger::report(problems, "approve/form/" + name,
                                fmt::format("found {}, expected text, number, integer or boolean, "
                                            "with ? behind where it may be left out, or a list of "
                                            "choices",
                                            trigger::describe(field)));
            }
        }
    }
    made->message = read_template(form, "message", "approve", site, problems);
    return made;
}

Attempt<void> approve(Step& step, const Value& answer) {
    if (dynamic_cast<const ApproveOperator*>(step.settings().work.get()) == nullptr ||
        step.status() != words::waiting) {
        return std::unexpected(
            expr::Fault{.code = "not_waiting",
                        .message = fmt::format("task \"{}\" is {}: it waits for no approval",
                                               step.id(), step.status())});
    }
    const auto* given = answer.find("form");
    const auto* by = answer.find("by");
    const auto* is_rejected = answer.find("reject");
    if (is_rejected != nullptr && *is_rejected == Value{true}) {
        const auto* reason = answer.find("reason");
        step.fail(Value::object({{"kind", "rejected"},
                                 {"message", reason == nullptr ? Value{"rejected"} : *reason},
                                 {"by", by == nullptr ? Value{} : *by}}));
        return {};
    }
    auto filled = given == nullptr ? Value::map({}) : *given;
    const auto* form = step.memory().find("form");
    if (form != nullptr && form->is_map()) {
        for (const auto& [name, field] : form->as_map()) {
            TRY(check_field(name, field, filled.find(name)));
        }
        for (const auto& [name, value] : filled.as_map()) {
            if (form->find(name) == nullptr) {
                return invalid(fmt::format("{}: the form has no such field", name));
            }
        }
    }
    step.succeed(
        Value::object({{"form", filled},
                       {"by", by == nullptr ? Value{} : *by},
                       {"at", value::format_time(step.firing().decider().moment().time)}}));
    return {};
}

} // namespace sluice::workflow::dag::internal
