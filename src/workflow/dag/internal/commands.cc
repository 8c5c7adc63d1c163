#include "workflow/dag/internal/commands.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "trigger/form_reader.h"
#include "workflow/dag/internal/operators.h"
#include "workflow/dag/internal/restart.h"
#include "workflow/dag/internal/words.h"
#include "workflow/dag/step.h"

namespace sluice::workflow::dag::internal {

namespace {

using trigger::Attempt;

using Tell = Attempt<void> (*)(Step& step, const Value& params);

/// Told to a task, which its parameters name.
class Command final : public trigger::Action {
public:
    Command(Value params, Tell tell) : params_(std::move(params)), tell_(tell) {}

    Attempt<void> perform(trigger::Firing& firing) const override {
        auto step = TRY(task_at(firing, params_.find("task")->as_string()));
        return tell_(step, params_);
    }

private:
    Value params_;
    Tell tell_;
};

Attempt<void> retry(Step& step, const Value& params) {
    const auto* input = params.find("input");
    restart(step.firing(), step.scope(), {step.task()},
            input == nullptr ? std::nullopt : std::optional{*input});
    return {};
}

/// A task that has ended, or not begun, is left as it is.
Attempt<void> require_active(const Step& step) {
    if (!step.is_active() && step.status() != words::pending) {
        return std::unexpected(
            expr::Fault{.code = "not_waiting",
                        .message = fmt::format("task \"{}\" is {}: `retry` lets it begin again",
                                               step.id(), step.status())});
    }
    return {};
}

Attempt<void> skip(Step& step, const Value& /*params*/) {
    TRY(require_active(step));
    step.cancel_work();
    step.skip();
    return {};
}

Attempt<void> set_result(Step& step, const Value& params) {
    TRY(require_active(step));
    const auto* result = params.find("result");
    step.cancel_work();
    step.succeed(result == nullptr ? Value{} : *result);
    return {};
}

trigger::ActionFactory making(std::initializer_list<std::string_view> members, Tell tell) {
    return [known = std::vector<std::string>(members.begin(), members.end()), tell](
               const Value& params, const trigger::ActionSite& /*site*/,
               Problems& problems) -> std::shared_ptr<const trigger::Action> {
        auto reader = trigger::FormReader{params, "", problems, {"task"}, known};
        if (!reader.text("task")) {
            reader.expect("task", "the name of a task");
            return nullptr;
        }
        return std::make_shared<Command>(params, tell);
    };
}

} // namespace

void add_commands(trigger::Vocabulary& vocabulary) {
    vocabulary.actions["task.retry"] = making({"input"}, retry);
    vocabulary.actions["task.skip"] = making({}, skip);
    vocabulary.actions["task.set_result"] = making({"result"}, set_result);
    vocabulary.actions["task.approve"] = making({"form", "by", "reject", "reason"}, approve);
}

} // namespace sluice::workflow::dag::internal
