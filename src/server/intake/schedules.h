#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "engine/keys.h"
#include "server/documents.h"
#include "server/intake/schedule.h"

namespace sluice::server::intake {

/// What schedules have done. May answer on any thread, also at once.
class ScheduleActions {
public:
    using Done = std::move_only_function<void(Result<void>)>;

    virtual ~ScheduleActions() = default;
    virtual void start(const engine::StartRequest& request, Done done) = 0;
    virtual void send(std::string space, event::Event event, Done done) = 0;
    virtual void ask_running(const engine::RunName& run,
                             std::move_only_function<void(bool)> done) = 0;
};

/// The schedules there are, and how far each has come.
///
/// Knows no thread: somebody calls `step` when it asks to be. That a time was dealt with is stored
/// after it was; a crash in between does it again, which the action's id makes harmless. The other
/// members may be called from any thread.
class Schedules {
public:
    static constexpr auto kind = std::string_view{"schedule"};
    static constexpr auto state_kind = std::string_view{"schedule_state"};
    /// What is due no longer than this is on time.
    static constexpr auto grace = std::chrono::minutes{1};
    /// Clocks are set at times: nobody waits longer than this without looking.
    static constexpr auto step_interval_max = std::chrono::seconds{30};
    static constexpr auto retry_interval = std::chrono::seconds{5};

    /// Reads the schedules. Documents, clock and actions outlive it; `wake` is called when `step`
    /// should be.
    static Result<std::unique_ptr<Schedules>> open(Documents& documents, const Clock& clock,
                                                   ScheduleActions& actions,
                                                   std::function<void()> wake);

    /// After another process has changed it, or acted on it: as it is stored.
    Result<void> follow(const std::string& space, const std::string& name);
    /// With other times it begins from now; with the same ones it goes on.
    Result<void> put(std::string_view space, std::string_view name, const Value& form);
    Result<void> remove(std::string_view space, std::string_view name);
    /// What is due while a schedule is paused is not made up for.
    Result<void> pause(std::string_view space, std::string_view name);
    Result<void> resume(std::string_view space, std::string_view name);
    /// Now, whatever its timetable says; `done` hears when it is durable, and of which time it is.
    void trigger(std::string_view space, std::string_view name,
                 std::move_only_function<void(Result<Value>)> done);

    Result<Value> view(std::string_view space, std::string_view name) const;
    std::vector<Value> list(std::string_view space) const;
    Result<std::vector<Time>> next(std::string_view space, std::string_view name,
                                   std::size_t count) const;

    /// Does what is due and stores what was done; says how long it may be left alone.
    Nanos step();

private:
    using Key = std::pair<std::string, std::string>; ///< Namespace and name.

    /// How far a schedule has come: stored.
    struct State {
        Time last{};     ///< All times up to this one are dealt with.
        std::string run; ///< The last that it started.
        std::uint64_t fired = 0;
        std::uint64_t skipped = 0; ///< Because the last run was still running.
        std::uint64_t failed = 0;
        std::string error; ///< What failed last; empty once something succeeded.

        static State from(const Value& stored);
        Value to_value() const;
    };
    struct Entry {
        Schedule schedule;
        Value form;
        State state;
        std::optional<Time> next{}; ///< When it is due again, unless something is due now.
        std::deque<Time> due{};     ///< Not yet dealt with, in order.
        bool is_busy = false;       ///< The first of these is under way.
        Nanos retry_at{0};          ///< Steady time; not before it.
    };
    enum class Outcome : std::uint8_t { Done, Overlapped, Failed, TryAgain };
    struct Completion {
        Key key;
        std::shared_ptr<Entry> entry;
        Time due{};
        Outcome outcome = Outcome::Done;
        std::string error{};
    };

    Schedules(Documents& documents, const Clock& clock, ScheduleActions& actions,
              std::function<void()> wake)
        : documents_(documents), clock_(clock), actions_(actions), wake_(std::move(wake)) {}

    Result<void> load(const Document& document);
    void install(Entry entry);
    Result<std::shared_ptr<Entry>> find(std::string_view space, std::string_view name) const;
    Result<void> change_pause(std::string_view space, std::string_view name, bool is_paused);
    Value view_of(const Entry& entry) const;
    Result<State> stored_state(std::string_view space, std::string_view name) const;
    Result<void> store_state(const Key& key, const State& state);

    void take_completions();
    void settle(Completion& completion);
    std::vector<std::pair<Key, std::shared_ptr<Entry>>> due_now();
    static void collect_due(Entry& entry, Time now);
    void fire(const Key& key, const std::shared_ptr<Entry>& entry, Time due);
    void act(const Schedule& schedule, Time due, ScheduleActions::Done done);
    void complete(Completion completion);
    Nanos time_left() const;

    Documents& documents_;
    const Clock& clock_;
    ScheduleActions& actions_;
    std::function<void()> wake_;
    std::mutex changing_;      ///< Held while documents are written, which takes time.
    mutable std::mutex mutex_; ///< Of what follows.
    std::map<Key, std::shared_ptr<Entry>> entries_;
    std::vector<Completion> completions_;
};

} // namespace sluice::server::intake
