#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "event/codec.h"
#include "trigger/apply.h"
#include "trigger/decider.h"
#include "trigger/testing/state_bytes.h"
#include "value/json.h"
#include "workflow/asl/check.h"
#include "workflow/asl/compile.h"
#include "workflow/asl/history.h"
#include "workflow/asl/map_runs.h"
#include "workflow/asl/read.h"
#include "workflow/asl/vocabulary.h"

namespace sluice::workflow::asl::testing {

/// Hands on what a run tells.
class Listener final : public trigger::Listener {
public:
    Listener(History& history, MapRuns& map_runs) : history_(history), map_runs_(map_runs) {}

    /// Another that hears the same.
    void add(trigger::Listener& listener) { others_.push_back(&listener); }

    void hear(const trigger::Moment& moment, const Value& told) override {
        history_.hear(moment, told);
        map_runs_.hear(moment, told);
        for (auto* other : others_) {
            other->hear(moment, told);
        }
    }
    bool cares_for(std::string_view part) const override {
        return std::ranges::any_of(others_,
                                   [&](const auto* other) { return other->cares_for(part); });
    }

private:
    std::vector<trigger::Listener*> others_;
    History& history_;
    MapRuns& map_runs_;
};

/// One run of a state machine, whose calls the test answers. When it is over, its history must give
/// its state.
class MachineRun : public ::testing::Test {
protected:
    MachineRun() { add_vocabulary(vocabulary_); }

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

    void load(std::string_view definition, CompileOptions options = {}) {
        auto form = value::parse_json(definition, {.depth_max = depth_max});
        ASSERT_TRUE(form) << form.error().message;
        auto machine = read(*form);
        ASSERT_TRUE(machine) << machine.error().front().location << ": "
                             << machine.error().front().message;
        options.name = "machine";
        auto compiled = compile(*form, options);
        auto problems = std::vector<trigger::Problem>{};
        auto spec = trigger::parse_set(compiled.form, {}, problems);
        auto set = trigger::TriggerSet::compile(std::move(spec), vocabulary_, problems);
        ASSERT_TRUE(problems.empty()) << trigger::to_error(problems).message;
        triggers_ = std::make_unique<trigger::RunTriggers>(std::move(set), vocabulary_);
        state_.id = "run";
    }

    void begin(std::string_view input = "{}") {
        auto info = trigger::RunInfo{.definition = "machine", .set = "hash"};
        info.input = *value::parse_json(input);
        decide(trigger::start_arrival(state_, info, triggers_->spec().context, moment_));
        pass(Nanos{0});
    }

    void start(std::string_view definition, std::string_view input = "{}") {
        ASSERT_NO_FATAL_FAILURE(load(definition));
        begin(input);
    }

    trigger::Fate decide(const trigger::Arrival& arrival) {
        auto decider = trigger::Decider{state_, *triggers_, journal_, codec_, limits_};
        decider.set_listener(&listener_);
        auto fate = decider.decide(arrival);
        while (state_.has_work()) {
            decider.take_turn(moment_);
        }
        return fate;
    }

    /// Open calls, as `place: function`, such as `Tiles/17/Load: f`, in order of their keys.
    std::vector<std::string> calls() const {
        auto found = std::vector<std::string>{};
        for (const auto& [key, task] : state_.tasks) {
            found.push_back(place_of(task) + ": " + task.target);
        }
        return found;
    }

    std::string place_of(const trigger::TaskState& task) const {
        auto path = *state_.path_of(task.scope);
        return path.empty() ? task.subject : path + "/" + task.subject;
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

    std::string input_of(std::string_view place) const {
        return value::to_json(call_of(place).second.input);
    }

    trigger::Fate answer(std::string_view place, const Value& result) {
        auto given = event::Answer{};
        given.result = result;
        return decide(
            trigger::task_arrival(state_, call_of(place).first, 1, given, std::nullopt, moment_));
    }

    trigger::Fate fail(std::string_view place, std::string_view error,
                       std::string_view cause = "it broke") {
        return decide(trigger::task_arrival(state_, call_of(place).first, 1,
                                            event::failure(error, std::string{cause}), std::nullopt,
                                            moment_));
    }

    trigger::Fate command(const std::string& name, const Value& params) {
        return decide(trigger::command_arrival(
            state_, trigger::types::run_command,
            Value::object({{"action", Value::object({{name, params}})}}), moment_));
    }

    /// Time passes, and what is due meanwhile is done.
    void pass(Nanos time) {
        auto end = moment_.steady + time;
        while (!state_.timers.empty()) {
            auto due_of = [&](const trigger::TimerState& timer) {
                return timer.is_absolute ? moment_.steady + (timer.due - moment_.time) : timer.due;
            };
            auto next = std::ranges::min_element(
                state_.timers, {}, [&](const auto& each) { return due_of(each.second); });
            if (due_of(next->second) > end) {
                break;
            }
            auto by = std::max(due_of(next->second) - moment_.steady, Nanos{0});
            moment_.time += by;
            moment_.steady += by;
            decide(trigger::timer_arrival(state_, next->first, moment_));
        }
        moment_.time += end - moment_.steady;
        moment_.steady = end;
    }

    /// The execution's end, as one JSON object.
    std::string end() const {
        return value::to_json(
            execution_end(state_.progress.status, state_.progress.result, state_.progress.error));
    }

    /// The types of its events, each with the one before it: `PassStateEntered<0`.
    std::vector<std::string> events() const {
        auto told = std::vector<std::string>{};
        for (const auto& event : history_.events()) {
            told.push_back(std::string{event.find("type")->as_string()} + "<" +
                           value::to_json(*event.find("previousEventId")));
        }
        return told;
    }

    trigger::DecideLimits limits_;
    trigger::Vocabulary vocabulary_;
    std::unique_ptr<trigger::RunTriggers> triggers_;
    trigger::RunState state_;
    trigger::Journal journal_;
    event::Codec codec_;
    trigger::Moment moment_;
    History history_;
    MapRuns map_runs_;
    Listener listener_{history_, map_runs_};
};

} // namespace sluice::workflow::asl::testing
