#include <utility>

#include <fmt/format.h>

#include "trigger/arrival.h"
#include "trigger/form_reader.h"
#include "workflow/dag/internal/operators.h"
#include "workflow/dag/internal/settings.h"
#include "workflow/dag/step.h"

namespace sluice::workflow::dag::internal {

namespace {

using trigger::Attempt;

/// Sends an event to another run, a sink, or the own run, and has ended.
class EmitOperator final : public Operator {
public:
    enum class To : std::uint8_t { Own, Run, Sink };

    To to = To::Own;
    Template type;
    Template subject;
    Template data;
    Template target;
    bool has_subject = false;

    Attempt<void> start(Step& step) const override {
        auto outgoing = trigger::Firing::Outgoing{};
        outgoing.type = TRY(evaluate_text(step, type, "type"));
        if (outgoing.type.empty() || outgoing.type.starts_with(trigger::types::reserved_prefix)) {
            return std::unexpected(
                expr::Fault{.code = "invalid_type",
                            .message = "types that begin with sluice. are the engine's own"});
        }
        if (has_subject) {
            outgoing.subject = TRY(evaluate_text(step, subject, "subject"));
        }
        outgoing.data = TRY(step.evaluate(data));
        if (to == To::Own) {
            step.firing().emit(outgoing, trigger::root_scope);
        } else {
            auto name = TRY(evaluate_text(step, target, "to"));
            step.firing().send(outgoing, to == To::Sink, name);
        }
        step.succeed({});
        return {};
    }
};

} // namespace

OperatorPtr make_emit(const Value& task, const ExpressionSite& site, Problems& problems) {
    auto made = std::make_shared<EmitOperator>();
    const auto& form = *task.find("emit");
    if (form.is_string()) {
        made->type = read_text(task, "emit", "the type of the event", "", site, problems);
        return made;
    }
    auto reader = trigger::FormReader{form, "emit", problems, {"type", "subject", "data", "to"}};
    if (!form.is_map()) {
        return made;
    }
    made->type = read_text(form, "type", "the type of the event", "emit", site, problems);
    made->has_subject = reader.find("subject") != nullptr;
    made->subject = read_template(form, "subject", "emit", site, problems);
    made->data = read_template(form, "data", "emit", site, problems);
    if (const auto* to = reader.find("to")) {
        auto inner = trigger::FormReader{*to, "emit/to", problems, {"run", "sink"}};
        auto is_run = inner.find("run") != nullptr;
        if (is_run == (inner.find("sink") != nullptr)) {
            reader.report("to", "expected either run or sink");
            return made;
        }
        made->to = is_run ? EmitOperator::To::Run : EmitOperator::To::Sink;
        made->target = read_text(*to, is_run ? "run" : "sink", "a name", "emit/to", site, problems);
    }
    return made;
}

} // namespace sluice::workflow::dag::internal
