#pragma once

#include <cstdint>
#include <deque>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "expr/states/sight.h"
#include "trigger/firing.h"
#include "trigger/history.h"
#include "workflow/asl/internal/run/context_object.h"
#include "workflow/asl/internal/run/fan.h"
#include "workflow/asl/internal/run/frame.h"
#include "workflow/asl/internal/run/integration.h"
#include "workflow/asl/internal/run/program.h"
#include "workflow/asl/internal/run/visit.h"

namespace sluice::workflow::asl::internal::run {

using expr::states::Failure;
using expr::states::Sight;
template <typename T>
using Evaluated = std::expected<T, Failure>;

/// How a state, or a flow, went on.
struct Step {
    enum class Kind : std::uint8_t { Next, Ended, Failed, Waiting };

    Kind kind = Kind::Waiting;
    StateNumber next = 0; ///< Of a failure: the state that failed.
    Value output;
    Failure failure{};
    bool is_aborted = false; ///< Of a failure: somebody has stopped it.

    static Step failed(Failure failure, StateNumber state = 0) {
        return {.kind = Kind::Failed, .next = state, .output = {}, .failure = std::move(failure)};
    }
};

/// What a state leaves behind.
struct Exit {
    Value output;
    Value assigned; ///< A map, or null.
};

/// What somebody answers to a task.
struct TaskOutcome {
    std::optional<Value> submitted{}; ///< What the call itself gave, where the end came later.
    std::optional<Value> result{};
    std::optional<Failure> failure{};
    std::string event{};   ///< That tells of an unusual failure.
    std::string worker{};  ///< Of an activity, as far as it is known.
    bool is_final = false; ///< Otherwise only the submission is known yet.
};

/// A state machine going on as far as it gets within one decision: from state to state without an
/// event between them, into branches and items and out of them again.
class Walk {
public:
    /// Both must outlive it.
    Walk(trigger::Firing& firing, const Program& program);

    /// The machine begins.
    void start();
    /// It ended without success, and goes on at the state that it ended in.
    void redrive();
    /// What is being decided is for this state, in the firing's scope.
    void take(StateNumber number);
    /// An outcome that comes by a task token; a fault where nobody waits for it.
    trigger::Attempt<void> answer(const Value& params);
    trigger::Attempt<void> note_heartbeat(const Value& params);
    /// A worker has taken the task of an activity.
    trigger::Attempt<void> note_begin(const Value& params);
    /// Other limits for a map run that goes on.
    trigger::Attempt<void> update_map_run(const Value& params);
    /// Aborts a child of a map run, as if it had failed.
    trigger::Attempt<void> stop_child(const Value& params);

private:
    // Flows (walk.cc).
    Step go(Frame& frame, StateNumber number, Value input, bool is_let_in = false);
    Step perform(Visit& visit);
    /// A step taken in a flow, then in those around it, until something waits or the run ends.
    void conclude(Frame* frame, Step step);
    void end_run(const Step& step);
    /// The state fails, and so does the flow that it is in.
    Step give_up(Visit& visit, Failure failure);

    // Redrives (walk_redrive.cc).
    /// No state around a flow retries or catches what failed in it.
    bool is_fatal(const Frame& frame, const Failure& failure) const;
    /// Nor does the state itself.
    bool ends_run(const Visit& visit, const Failure& failure) const;
    /// A state that was under way when the execution ended.
    struct Place {
        trigger::Incarnation scope;
        StateNumber state = 0;
    };
    struct Places {
        std::vector<Place> leaves;
        std::vector<Place> map_runs;
        std::vector<Place> owners; ///< Wait for their children, which are before them.
    };
    /// Those in a scope and within it.
    void find_places(trigger::Incarnation scope, Places& places) const;
    void enter_again(const Place& place, std::uint64_t last);
    void go_on_with_children(const Place& place);

    void finish();
    bool is_spent() const;
    bool is_open(const Frame& frame, StateNumber number) const;
    Step pause(Frame& frame, StateNumber number, Value input);
    Step knock(Frame& frame, StateNumber number, const Value& input);
    void enter(Visit& visit);
    Step leave(Visit& visit, Exit exit, std::optional<StateNumber> next);

    // What is remembered (walk_memory.cc).
    Frame& load_frame(trigger::Incarnation scope, FlowNumber flow);
    Tally& load_tally(trigger::Incarnation scope, bool is_of_child);
    void load_fan(Fan& fan);
    /// Where the children are that a state waits for in this scope.
    std::optional<trigger::Incarnation> fan_scope_of(trigger::Incarnation scope,
                                                     trigger::TriggerNumber trigger) const;
    /// The branches or items of a fan that wait, by index.
    std::map<std::uint64_t, trigger::Incarnation> children_of(trigger::Incarnation fan_scope) const;
    const Value& memory_of(trigger::Incarnation scope, trigger::TriggerNumber trigger) const;
    trigger::Incarnation open(Frame& frame);
    trigger::Incarnation open_scope(trigger::Incarnation parent, const std::string& path,
                                    Value variables);
    void open(Fan& fan);
    void store(Visit& visit, std::string_view status);
    void store(Fan& fan);
    void forget(Visit& visit);
    void assign(Frame& frame, const Value& assigned);
    std::string path_of(trigger::Incarnation scope) const;
    trigger::TimerNumber set_timer(const Visit& visit, Nanos after, std::string_view purpose);
    trigger::TimerNumber set_timer(const Visit& visit, trigger::TimerState timer,
                                   std::string_view purpose);
    void remove_timers(Visit& visit);

    // States (walk_states.cc).
    Step pass(Visit& visit);
    Step choose(Visit& visit);
    Step wait(Visit& visit);
    Step succeed(Visit& visit);
    Step stop(Visit& visit);
    /// The rest of a state whose work gave this.
    Step complete(Visit& visit, const Value& result);
    Evaluated<Exit> exit_of(Visit& visit, const Value& result);
    Evaluated<std::optional<Value>> assigned_by(const Visit& visit,
                                                const std::optional<Template>& assign,
                                                const Sight& sight);

    // Tasks (walk_task.cc, walk_token.cc).
    Step begin_task(Visit& visit);
    Evaluated<void> read_times(Visit& visit, const Sight& sight,
                               std::optional<std::uint64_t>& timeout);
    void tell_scheduled(Visit& visit, const Value& arguments, const Value& credentials,
                        std::optional<std::uint64_t> timeout);
    Step call(Visit& visit, const Value& arguments);
    Step send_message(Visit& visit, const Work& work, const Value& answer);
    void tell_nested(Visit& visit, const NestedExecution& nested);
    Step take_answer(Visit& visit);
    TaskOutcome nested_outcome(Visit& visit, const Value& result) const;
    Step take_outcome(Visit& visit, const TaskOutcome& outcome);
    Step time_out(Visit& visit, std::string_view error);
    void cancel_work(const Visit& visit);
    std::string token_of(const Visit& visit) const;
    void begin_work(Visit& visit, std::string_view worker);

    // From outside (walk_token.cc).
    /// The state that waits for what a token or the key of a task names.
    std::optional<Visit> holder_of(const Value& params);
    std::optional<Visit> visit_at(trigger::Incarnation scope, StateNumber number);
    void renew_pulse(Visit& visit);

    // Branches and items (walk_fan.cc).
    Step begin_parallel(Visit& visit);
    Step begin_map(Visit& visit);
    Evaluated<void> read_items(Fan& fan, const Sight& sight);
    Evaluated<void> take_items(Fan& fan, const Value& items, bool is_last);
    Evaluated<void> batch_items(Fan& fan, const Value& items, bool is_last);
    /// The first page of a reader, and each further one.
    Evaluated<void> prepare_reader(Fan& fan, const Sight& sight);
    Step ask_for_page(Fan& fan);
    Step take_page(Visit& visit);
    Evaluated<void> read_concurrency(Fan& fan, const Sight& sight);
    Evaluated<void> read_tolerance(Fan& fan, const Sight& sight);
    Step run_children(Fan& fan);
    /// Nothing: the fan goes on.
    std::optional<Step> run_child(Fan& fan, Frame& child);
    void keep_tally(const Tally& tally);
    /// Nothing: it has ended at once, or waits.
    std::optional<Step> go_into_child(Fan& fan, Frame& child, StateNumber number, Value input);
    Evaluated<Value> child_input(Fan& fan, const Frame& child);
    Value item_of(const Fan& fan, std::uint64_t index) const;
    /// Nothing: the fan goes on.
    std::optional<Step> take_child(Fan& fan, const Frame& child, Step step);
    void collect(Fan& fan, std::uint64_t index, Value value);
    Step finish(Fan& fan);
    /// Without a result it is too large.
    Step finish(Fan& fan, const std::optional<Value>& result);
    std::vector<Value> results_of(Fan& fan);
    void call_own(const Fan& fan, std::string_view function, Value request);
    /// The children but for the one that failed are aborted; the error is the state's own.
    Step break_off(Fan& fan, std::uint64_t last, Failure failure,
                   std::optional<std::uint64_t> failed = std::nullopt);
    Step hand_over(Frame& child, Step step);

    // What is aborted with them (walk_abort.cc).
    void abort_children(Tally& tally, const State& owner,
                        std::map<std::uint64_t, trigger::Incarnation> children);
    /// Gives the last event.
    std::uint64_t abort_states(Tally& tally, trigger::Incarnation scope);

    // Children of distributed maps (walk_map_run.cc).
    void begin_execution(Fan& fan, Frame& child, const Value& input);
    std::optional<Step> take_execution(Fan& fan, const Frame& child, Step step);
    /// Which trigger collects the results of the next part, or of another.
    trigger::TriggerNumber collector_of(const Fan& fan, std::uint64_t slot) const;
    std::vector<Value> records_in(const Fan& fan, std::uint64_t slot) const;
    Value part_request(const Fan& fan, std::uint64_t slot) const;
    Step break_off_map_run(Fan& fan, Failure failure);
    /// Whether what each child was given and gave is told where results go.
    static bool keeps_records(const Fan& fan);
    void keep_result(Fan& fan, std::uint64_t index, Value result);
    Evaluated<Value> destination_of(Fan& fan);
    Evaluated<void> write_part(Fan& fan, bool is_last);
    Step take_written(Fan& fan, const Value& data);
    Step finish_map_run(Fan& fan);
    Step give_in(Fan& fan, Failure failure);
    std::string map_machine(const Fan& fan) const;
    std::string map_run_arn(const Fan& fan) const;
    std::string map_run_id(const Fan& fan) const;
    std::string child_name(const Fan& fan, std::uint64_t index) const;
    /// The name of the execution that a flow belongs to: the run's, or a child's.
    std::string execution_of(const Frame& frame) const;
    std::string heard_name(const Fan& fan, std::uint64_t index) const;
    void hear_limits(const Fan& fan) const;
    void hear_child(const Fan& fan, const Frame& child, std::string_view status,
                    const Value& more) const;
    void hear_of_run(const Tally& tally, Value told) const;
    std::optional<std::pair<trigger::Incarnation, StateNumber>> find_map_run(std::uint64_t started);

    // What a redrive does with them (walk_map_redrive.cc).
    /// The trigger that collects children without success, in the scope of their map.
    trigger::TriggerNumber keeper() const { return program_.machine_trigger(); }
    /// Whether a redrive can go on with it.
    bool keep_child(Fan& fan, const Frame& child);
    /// Inputs of those from an index on.
    std::vector<std::pair<std::uint64_t, Value>> kept_since(const Fan& fan,
                                                            std::uint64_t from) const;
    enum class Keep : std::uint8_t { No, Yes };
    void abort_executions(Fan& fan, Keep keep);
    /// The state of a child that waits; an empty map: there is none.
    Value place_in_child(FlowNumber flow, trigger::Incarnation scope) const;
    void drop_records_of_kept(Fan& fan);
    void redrive_map_run(const Place& place, std::uint64_t last);
    void write_parts_again(Fan& fan);
    std::optional<Step> run_again(Fan& fan);

    // Errors (walk_errors.cc).
    /// A field of the state could not be evaluated.
    Step fault(Visit& visit, Failure failure);
    Failure explained(Visit& visit, Failure failure);
    Step fail(Visit& visit, Failure failure);
    Step retry(Visit& visit, const Retrier& retrier, std::uint32_t count);
    Step caught(Visit& visit, const Catcher& catcher, const Failure& failure);
    Step exceed(Visit& visit, std::string_view who);
    bool exceeds(const Value& value) const;

    // The history of the execution.
    /// Only how the execution ended fits behind what is full: it fails before the next state.
    template <typename Details>
    std::uint64_t tell(Tally& tally, std::string_view kind, std::string_view type,
                       std::uint64_t previous, Details details) {
        if (is_full(tally) && kind != "Execution") {
            return tally.events;
        }
        auto id = ++tally.events;
        tally.has_changed = true;
        if (listener_ != nullptr && tally.is_heard()) {
            hear(tally, previous, kind, type, details());
        }
        return id;
    }
    bool is_full(const Tally& tally) const;
    Failure full_history() const;
    void hear(const Tally& tally, std::uint64_t previous, std::string_view kind,
              std::string_view type, Value details) const;

    const Machine& machine() const { return *program_.machine; }
    const trigger::RunState& state() const { return firing_.state(); }
    trigger::TriggerNumber trigger_of(const Visit& visit) const {
        return trigger::TriggerNumber{visit.number};
    }
    std::uint64_t next_chance();

    /// What the fields of a state see. The visit must outlive it.
    class View {
    public:
        View(Walk& walk, const Visit& visit, const Value* item = nullptr);
        View(const View&) = delete;
        View& operator=(const View&) = delete;

        Sight of(const Value& data) const;

    private:
        Walk& walk_;
        const Visit& visit_;
        FrameVariables variables_;
        ContextObject context_;
    };

    trigger::Firing& firing_;
    const Program& program_;
    trigger::Listener* listener_;
    std::deque<Frame> frames_; ///< That were loaded.
    std::deque<Tally> tallies_;
    Value failed_at_; ///< Of the machine's own flow: `{state, input}`, for a redrive.
    /// A branch or an item has ended the execution: scopes stay as they are for a redrive.
    bool is_ending_ = false;
    std::uint64_t spent_ = 0;
    std::uint64_t chances_ = 0;
};

/// Values that a trigger has collected in a scope, in order, from an index on: those that are not
/// null, until `take` says false.
template <typename Take>
void each_collected(const trigger::RunState& state, trigger::Incarnation scope,
                    trigger::TriggerNumber trigger, const Take& take, std::uint64_t from = 0) {
    constexpr auto size = trigger::CollectedBlock::size;
    auto at =
        state.collected.lower_bound({.scope = scope, .trigger = trigger, .block = from / size});
    for (; at != state.collected.end() && at->first.scope == scope && at->first.trigger == trigger;
         ++at) {
        const auto& values = at->second.values;
        for (auto place = std::size_t{0}; place < values.size(); ++place) {
            auto index = at->first.block * size + place;
            if (index >= from && !values[place].is_null() && !take(index, values[place])) {
                return;
            }
        }
    }
}

/// Which child a scope is of, by its path.
std::uint64_t index_in(std::string_view path);

/// `Map`, as in the types of events.
std::string_view name_of(Kind kind);

} // namespace sluice::workflow::asl::internal::run
