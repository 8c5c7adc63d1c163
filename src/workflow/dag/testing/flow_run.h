#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "event/builder.h"
#include "trigger/apply.h"
#include "trigger/decider.h"
#include "trigger/testing/state_bytes.h"
#include "value/json.h"
#include "workflow/dag/check.h"
#include "workflow/dag/compile.h"
#include "workflow/dag/internal/task_bindings.h"
#include "workflow/dag/vocabulary.h"

namespace sluice::workflow::dag::testing {

/// One run of a definition, whose calls the test answers. When it is over, its history must give
/// its state.
class FlowRun : public ::testing::Test {
protected:
    FlowRun() { add_vocabulary(vocabulary_, operators_); }

    void TearDown() override {
        auto folded = trigger::RunState{};
        folded.id = "run";
        auto entries = trigger::decode_record(journal_.record({}));
        ASSERT_TRUE(entries);
        for (const auto& entry : *entries) {
            trigger::fold(folded, entry);
        }
        EXPECT_EQ(trigger::testing::state_text(folded), trigger::testing::state_text(state_));
    }

    void start(const std::string& yaml, const std::string& input = "null") {
        auto document = raw::parse(yaml, "test.yaml");
        ASSERT_TRUE(document) << raw::to_text(document.error().front());
        for (const auto& finding :
             check(*document, operators_, vocabulary_, {.known_functions = {"f", "g", "h"}})) {
            ADD_FAILURE() << raw::to_text(finding);
        }
        auto definition = compile(document->form, operators_);
        auto problems = Problems{};
        auto spec = trigger::parse_set(definition.form, {}, problems);
        auto set = trigger::TriggerSet::compile(std::move(spec), vocabulary_, problems);
        ASSERT_TRUE(problems.empty()) << trigger::to_error(problems).message;
        triggers_ = std::make_unique<trigger::RunTriggers>(std::move(set), vocabulary_);
        state_.id = "run";
        auto info = trigger::RunInfo{.definition = definition.name, .set = "hash"};
        info.input = *value::parse_json(input);
        decide(trigger::start_arrival(state_, info, triggers_->spec().context, moment_));
    }

    trigger::Fate decide(const trigger::Arrival& arrival) {
        auto fate = decider().decide(arrival);
        while (takes_turns_ && state_.has_work()) {
            decider().take_turn(moment_);
        }
        return fate;
    }

    trigger::Decider decider() { return {state_, *triggers_, journal_, codec_, limits_}; }

    /// Open calls, as `place: function`, such as `tiles/17/load: f`, in order of their keys.
    std::vector<std::string> calls() const {
        auto found = std::vector<std::string>{};
        for (const auto& [key, task] : state_.tasks) {
            found.push_back(place_of(task) + ": " + task.target);
        }
        return found;
    }

    std::string place_of(const trigger::TaskState& task) const {
        auto path = *state_.path_of(task.scope);
        auto name = task.subject.substr(task.subject.rfind('.') + 1);
        return path.empty() || path.ends_with(name) ? path.empty() ? name : path
                                                    : path + "/" + name;
    }

    /// The first open call of this place.
    std::pair<trigger::TaskKey, trigger::TaskState> call_of(std::string_view place) const {
        for (const auto& [key, task] : state_.tasks) {
            if (place_of(task) == place) {
                return {key, task};
            }
        }
        ADD_FAILURE() << "no call is open of " << place;
        return {};
    }

    Value input_of(std::string_view place) const { return call_of(place).second.input; }

    trigger::Fate answer(std::string_view place, const Value& result = {}) {
        auto given = event::Answer{};
        given.result = result;
        return decide(
            trigger::task_arrival(state_, call_of(place).first, 1, given, std::nullopt, moment_));
    }

    trigger::Fate fail(std::string_view place, std::string_view kind = "oops") {
        return decide(trigger::task_arrival(state_, call_of(place).first, 1,
                                            event::failure(kind, "it broke"), std::nullopt,
                                            moment_));
    }

    /// Answers the calls that are open, and those that they lead to, until there are none.
    void answer_all() {
        while (!state_.tasks.empty()) {
            auto given = event::Answer{};
            given.result = state_.tasks.begin()->second.input;
            decide(trigger::task_arrival(state_, state_.tasks.begin()->first, 1, given,
                                         std::nullopt, moment_));
        }
    }

    trigger::Fate send(const std::string& type, const Value& data = {},
                       const std::string& subject = "") {
        auto made = event::Builder{std::to_string(++sent_), "test", type};
        made.subject(subject).data(data);
        return decide({.event = made.build(), .moment = moment_});
    }

    trigger::Fate command(const std::string& name, const Value& params) {
        return decide(trigger::command_arrival(
            state_, trigger::types::run_command,
            Value::object({{"action", Value::object({{name, params}})}}), moment_));
    }

    /// Why the last command was refused.
    std::string refusal() const {
        for (auto at = journal_.effects.rbegin(); at != journal_.effects.rend(); ++at) {
            if (const auto* replied = std::get_if<trigger::Replied>(&*at)) {
                return std::string{replied->data.find("error")->find("message")->as_string()};
            }
        }
        return {};
    }

    trigger::Fate reopen(const Value& data = Value::map({})) {
        return decide(
            trigger::command_arrival(state_, trigger::types::run_reopened, data, moment_));
    }

    void pass(Nanos time) {
        moment_.time += time;
        moment_.steady += time;
        while (true) {
            auto due = std::ranges::find_if(state_.timers, [&](const auto& each) {
                return each.second.due <= (each.second.is_absolute ? moment_.time : moment_.steady);
            });
            if (due == state_.timers.end()) {
                return;
            }
            decide(trigger::timer_arrival(state_, due->first, moment_));
        }
    }

    std::string status(std::string_view id, std::string_view scope = "") const {
        auto number = triggers_->find(id);
        auto at = state_.scope_at(scope);
        if (!number || !at) {
            return "nowhere";
        }
        return std::string{internal::status_of(internal::memory_of(state_, *at, *number))};
    }

    bool has_succeeded() const { return state_.progress.status == trigger::Status::Succeeded; }
    bool has_failed() const { return state_.progress.status == trigger::Status::Failed; }
    std::string result() const { return value::to_json(state_.progress.result); }
    std::string error(std::string_view member) const {
        const auto* found = state_.progress.error.find(member);
        return found == nullptr     ? std::string{}
               : found->is_string() ? std::string{found->as_string()}
                                    : value::to_json(*found);
    }

    Operators operators_ = built_in_operators();
    trigger::DecideLimits limits_;
    trigger::Vocabulary vocabulary_;
    std::unique_ptr<trigger::RunTriggers> triggers_;
    trigger::RunState state_;
    trigger::Journal journal_;
    event::Codec codec_;
    trigger::Moment moment_;
    bool takes_turns_ = true; ///< By itself, until there are none left.
    int sent_ = 0;
};

} // namespace sluice::workflow::dag::testing
