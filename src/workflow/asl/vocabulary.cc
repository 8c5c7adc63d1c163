#include "workflow/asl/vocabulary.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "trigger/arrival.h"
#include "trigger/form_reader.h"
#include "workflow/asl/internal/run/walk.h"
#include "workflow/asl/internal/run/words.h"
#include "workflow/asl/read.h"

namespace sluice::workflow::asl {

namespace {

using Problems = std::vector<trigger::Problem>;
using trigger::Attempt;

/// Begins the machine, and holds it for the triggers of its states.
class MachineAction final : public trigger::Action {
public:
    explicit MachineAction(internal::run::Program program) : program_(std::move(program)) {}

    Attempt<void> perform(trigger::Firing& firing) const override {
        auto walk = internal::run::Walk{firing, program_};
        if (firing.event().type() == trigger::types::run_reopened) {
            walk.redrive();
        } else {
            walk.start();
        }
        return {};
    }
    const internal::run::Program& program() const { return program_; }

private:
    internal::run::Program program_;
};

Attempt<const internal::run::Program*> program_at(trigger::Firing& firing,
                                                  trigger::TriggerNumber number) {
    const auto* trigger = firing.decider().triggers().get(number);
    const auto* action = trigger == nullptr || trigger->actions.empty()
                             ? nullptr
                             : dynamic_cast<const MachineAction*>(trigger->actions.front().get());
    if (action == nullptr) {
        return std::unexpected(expr::Fault{.code = "no_machine",
                                           .message = "the trigger that holds the state machine "
                                                      "was removed or changed"});
    }
    return &action->program();
}

class StateAction final : public trigger::Action {
public:
    StateAction(StateNumber state, trigger::TriggerNumber machine)
        : state_(state), machine_(machine) {}

    Attempt<void> perform(trigger::Firing& firing) const override {
        const auto* program = TRY(program_at(firing, machine_));
        internal::run::Walk{firing, *program}.take(state_);
        return {};
    }

private:
    StateNumber state_;
    trigger::TriggerNumber machine_;
};

/// Said from outside to a machine that runs: of a task that a token names, or of a map run.
class ToldAction final : public trigger::Action {
public:
    using Tell = Attempt<void> (internal::run::Walk::*)(const Value& params);

    ToldAction(Value params, Tell tell) : params_(std::move(params)), tell_(tell) {}

    Attempt<void> perform(trigger::Firing& firing) const override {
        auto machine = firing.decider().triggers().find("(machine)");
        const auto* program =
            TRY(program_at(firing, machine.value_or(trigger::TriggerNumber{0xFFFF})));
        auto walk = internal::run::Walk{firing, *program};
        return (walk.*tell_)(params_);
    }

private:
    Value params_;
    Tell tell_;
};

std::shared_ptr<const trigger::Action> make_machine(const Value& params, const std::string& key,
                                                    Problems& problems) {
    auto reader = trigger::FormReader{
        params,
        "",
        problems,
        {"definition", "express", "mocked", "tried", "account", "events", "absent"}};
    auto is_express = reader.boolean("express").value_or(false);
    const auto* definition = reader.find("definition");
    if (definition == nullptr) {
        reader.expect("definition", "a state machine");
        return nullptr;
    }
    auto machine = read(*definition, {.is_express = is_express});
    if (!machine) {
        for (const auto& diagnostic : machine.error()) {
            trigger::report(problems, "definition" + diagnostic.location, diagnostic.message);
        }
        return nullptr;
    }
    auto program = internal::run::Program{.machine = *machine};
    program.is_mocked = reader.boolean("mocked").value_or(false);
    program.is_tried = reader.boolean("tried").value_or(false);
    program.token_key = key;
    program.account = reader.text("account").value_or(program.account);
    program.is_express = is_express;
    const auto* absent = reader.find("absent");
    for (const auto& number :
         absent != nullptr && absent->is_list() ? absent->as_list() : std::span<const Value>{}) {
        program.absent.push_back(static_cast<StateNumber>(number.is_int() ? number.as_int() : 0));
    }
    program.limits.events_max =
        reader.count("events", 0, INT64_MAX).value_or(is_express ? 0 : program.limits.events_max);
    return std::make_shared<MachineAction>(std::move(program));
}

std::shared_ptr<const trigger::Action> make_state(const Value& params, Problems& problems) {
    auto reader = trigger::FormReader{params, "", problems, {"state", "machine"}};
    auto state = reader.count("state", 0, UINT32_MAX - 2);
    auto machine = reader.count("machine", 0, UINT32_MAX - 2);
    if (!state || !machine || *state >= *machine) {
        reader.expect("state", "the number of a state");
        return nullptr;
    }
    return std::make_shared<StateAction>(
        static_cast<StateNumber>(*state),
        trigger::TriggerNumber{static_cast<std::uint32_t>(*machine)});
}

trigger::ActionFactory telling(std::vector<std::string> members, ToldAction::Tell tell) {
    return [members = std::move(members), tell](
               const Value& params, const trigger::ActionSite& /*site*/,
               Problems& problems) -> std::shared_ptr<const trigger::Action> {
        auto count = problems.size();
        auto reader = trigger::FormReader{params, "", problems, {"task"}, members};
        if (const auto* task = reader.find("task")) {
            auto key = trigger::FormReader{*task, "task", problems, {"fire", "index"}};
            static_cast<void>(key.count("fire", 0, INT64_MAX));
            static_cast<void>(key.count("index", 0, INT64_MAX));
        } else if (reader.find(members.front()) == nullptr) {
            reader.expect(members.front(), "what is meant");
        }
        return problems.size() > count ? nullptr : std::make_shared<ToldAction>(params, tell);
    };
}

} // namespace

void add_vocabulary(trigger::Vocabulary& vocabulary, std::string token_key) {
    vocabulary.actions[std::string{words::machine_term}] =
        [key = std::move(token_key)](const Value& params, const trigger::ActionSite& /*site*/,
                                     Problems& problems) {
            return make_machine(params, key, problems);
        };
    vocabulary.actions[std::string{words::state_term}] =
        [](const Value& params, const trigger::ActionSite& /*site*/, Problems& problems) {
            return make_state(params, problems);
        };
    vocabulary.actions[std::string{words::answer_term}] =
        telling({"token", "output", "error", "cause"}, &internal::run::Walk::answer);
    vocabulary.actions[std::string{words::heartbeat_term}] =
        telling({"token"}, &internal::run::Walk::note_heartbeat);
    vocabulary.actions[std::string{words::begin_term}] =
        telling({"token", "worker"}, &internal::run::Walk::note_begin);
    vocabulary.actions[std::string{words::map_run_term}] =
        telling({"started", "concurrency", "tolerated", "tolerated_share"},
                &internal::run::Walk::update_map_run);
    vocabulary.actions[std::string{words::stop_child_term}] =
        telling({"started", "index", "error", "cause"}, &internal::run::Walk::stop_child);
}

} // namespace sluice::workflow::asl
