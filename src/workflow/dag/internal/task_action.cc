#include "workflow/dag/internal/task_action.h"

#include <utility>

#include "trigger/arrival.h"
#include "trigger/form_reader.h"
#include "workflow/dag/internal/task_bindings.h"
#include "workflow/dag/internal/words.h"

namespace sluice::workflow::dag::internal {

namespace {

class TaskCondition final : public trigger::Condition {
public:
    TaskCondition(std::uint64_t upstream, std::uint64_t enough)
        : upstream_(upstream), enough_(enough) {}

    trigger::Verdict evaluate(const trigger::ConditionInput& input) const override {
        auto progress = input.state.progress;
        if (input.patterns.empty() || input.patterns.front() >= upstream_) {
            return answer(progress, true);
        }
        if (input.memory.find("status") != nullptr) {
            return answer(progress, false); // It has begun without the rest.
        }
        progress += std::uint64_t{1} << Ends::total_shift;
        progress += input.event.type() == words::done_succeeded ? 1 : 0;
        return answer(progress, is_enough(progress));
    }

    trigger::Verdict recheck(const trigger::ConditionInput& input) const override {
        auto progress = input.state.progress;
        return answer(progress, upstream_ > 0 && is_enough(progress));
    }

private:
    static trigger::Verdict answer(std::uint64_t progress, bool fires) {
        auto verdict = trigger::Verdict{};
        verdict.progress = progress;
        verdict.answer = fires ? trigger::Verdict::Answer::Fire : trigger::Verdict::Answer::Wait;
        return verdict;
    }

    bool is_enough(std::uint64_t progress) const {
        return progress >> Ends::total_shift >= upstream_ ||
               Ends::succeeded_in(progress) >= enough_;
    }

    std::uint64_t upstream_;
    std::uint64_t enough_; ///< So many successes do without the rest.
};

} // namespace

std::shared_ptr<const trigger::Condition> make_task_condition(
    const Value& params, const trigger::ConditionSite& /*site*/, Problems& problems) {
    auto reader = trigger::FormReader{params, "", problems, {"of", "enough"}};
    auto upstream = reader.count("of", 0, UINT32_MAX).value_or(0);
    auto enough = reader.count("enough", 1, UINT32_MAX).value_or(UINT64_MAX);
    return std::make_shared<TaskCondition>(upstream, enough);
}

const Settings* settings_of(const trigger::CompiledTrigger& trigger) {
    const auto* action = trigger.actions.size() == 1
                             ? dynamic_cast<const TaskAction*>(trigger.actions.front().get())
                             : nullptr;
    return action == nullptr ? nullptr : &action->settings();
}

trigger::Attempt<void> TaskAction::perform(trigger::Firing& firing) const {
    auto step = Step{firing, settings_, firing.trigger(), firing.scope()};
    auto type = firing.event().type();
    if (firing.is_continued()) {
        step.go_on();
    } else if (type.starts_with(words::done_prefix)) {
        step.join();
    } else if (type == trigger::types::run_started || type == words::body_opened) {
        step.start();
    } else if (type == words::tasks_begun) {
        step.start_pending();
    } else {
        step.take();
    }
    return {};
}

} // namespace sluice::workflow::dag::internal
