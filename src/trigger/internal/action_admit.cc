#include <charconv>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "trigger/arrival.h"
#include "trigger/firing.h"
#include "trigger/internal/actions.h"
#include "trigger/internal/places.h"

namespace sluice::trigger::actions {

namespace {

/// The runs of a definition that have a place and those that wait for one.
///
/// Each is a scope of the standing run, so that a change costs what changes however many there are:
/// `running/RUN`, and `waiting/RUN` with its place in the `line`.
class Runs {
    static constexpr auto priority_max = std::int64_t{1'000};

public:
    struct Run {
        std::string id;
        std::int64_t asked = 0;
        std::int64_t started = 0; ///< Which of two is newer.
    };

    explicit Runs(Firing& firing) : firing_(firing) {}

    std::size_t running() const {
        return static_cast<std::size_t>(std::ranges::distance(paths_in("running")));
    }
    bool has_waiting() const { return !paths_in("line").empty(); }

    std::optional<Run> newest(const std::string& part) const {
        auto found = std::optional<Run>{};
        for (const auto& path : paths_in(part)) {
            auto run = run_at(path);
            if (!found || run.started > found->started) {
                found = std::move(run);
            }
        }
        return found;
    }

    /// The line is in the order of its paths: higher priorities first, then who came first.
    Attempt<void> add_waiting(const Run& run, std::int64_t priority) {
        auto place = fmt::format("line/{:04}-{:020}", priority_max - priority,
                                 firing_.state().progress.incarnations + 1);
        TRY(firing_.open_scope("/" + place, to_value(run)));
        TRY(firing_.open_scope("/waiting/" + run.id, Value::object({{"line", place}})));
        return {};
    }

    Attempt<void> admit_next() {
        auto run = run_at(*paths_in("line").begin());
        remove(run.id);
        TRY(firing_.open_scope("/running/" + run.id, to_value(run)));
        answer(run, places::given, {});
        return {};
    }

    void withdraw_running(const Value& error) {
        for (const auto& path : paths_in("running")) {
            answer(run_at(path), places::withdrawn, error);
        }
    }

    void withdraw_waiting(const Value& error) {
        while (has_waiting()) {
            auto run = run_at(*paths_in("line").begin());
            remove(run.id);
            answer(run, places::withdrawn, error);
        }
    }

    /// Wherever it is.
    void remove(const std::string& id) {
        if (const auto* waiting = variables_of("waiting/" + id)) {
            close(std::string{waiting->find("line")->as_string()});
            close("waiting/" + id);
        }
        close("running/" + id);
    }

    void answer(const Run& run, std::string_view place, const Value& error) {
        auto reply = Value::object({{"place", place}});
        firing_.record(Replied{
            .data =
                Value::object({{"run", firing_.state().id},
                               {"reply", error.is_null() ? reply : reply.with("error", error)}}),
            .to = places::asker(run.id, static_cast<std::uint64_t>(run.asked))});
    }

private:
    static Value to_value(const Run& run) {
        return Value::object({{"run", run.id}, {"asked", run.asked}, {"started", run.started}});
    }

    const Value* variables_of(const std::string& path) const {
        auto found = firing_.state().scopes.find(path);
        return found == firing_.state().scopes.end() ? nullptr : &found->second.variables;
    }

    Run run_at(const std::string& path) const {
        const auto& run = *variables_of(path);
        return {.id = std::string{run.find("run")->as_string()},
                .asked = run.find("asked")->as_int(),
                .started = run.find("started")->as_int()};
    }

    using Paths = std::set<std::string>;

    /// In order. Those that are closed and not yet swept have paths that sort before them.
    std::ranges::subrange<Paths::const_iterator> paths_in(const std::string& part) const {
        static const auto none = Paths{};
        const auto& state = firing_.state();
        auto scope = state.scope_at(part);
        auto members = scope ? state.members.find(*scope) : state.members.end();
        const auto& paths = members == state.members.end() ? none : members->second.children;
        return {paths.lower_bound(part + "/"), paths.end()};
    }

    void close(const std::string& path) {
        if (firing_.state().scope_at(path)) {
            firing_.decider().close_scope(path);
        }
    }

    Firing& firing_;
};

Value ending(std::string_view kind, const Runs::Run& by, std::string_view why) {
    return Value::object({{"kind", kind},
                          {"message", fmt::format("run \"{}\" of its definition {}", by.id, why)},
                          {"run", by.id}});
}

Value superseded(const Runs::Run& by) {
    return ending("superseded", by, "is newer, and by its strategy only the newest goes on");
}

/// Decides whose turn it is among the runs of a definition.
class Admit final : public Action {
public:
    /// That of a version that was deployed; null: a run asks, or gives back.
    explicit Admit(Value deployed) : deployed_(std::move(deployed)) {}

    Attempt<void> perform(Firing& firing) const override {
        auto runs = Runs{firing};
        if (const auto& sender = firing.decider().sender()) {
            TRY(hear(firing, runs, *sender));
        } else if (!deployed_.is_null()) {
            auto context = firing.state().context.with("strategy", deployed_);
            firing.record(ContextSet{.context = context.with("deployed", true)});
        }
        auto strategy = strategy_of(firing);
        auto most = strategy.kind == StrategyKind::Parallel ? strategy.limit : 1;
        while (runs.has_waiting() && (most == 0 || runs.running() < most)) {
            TRY(runs.admit_next());
        }
        return {};
    }

private:
    static Attempt<void> hear(Firing& firing, Runs& runs, const Sender& sender) {
        runs.remove(sender.run);
        if (firing.event().type() != types::place_wanted) {
            return {};
        }
        auto data = firing.event().data();
        auto run = Runs::Run{.id = sender.run,
                             .asked = static_cast<std::int64_t>(sender.key.index),
                             .started = data.find("started")->as_int()};
        note_strategy(firing, *data.find("strategy"));
        return take(firing, runs, run, priority_in(data));
    }

    /// Versions of a definition share its places: what was deployed last holds for all, or else
    /// what the run that asked last was started with.
    static void note_strategy(Firing& firing, const Value& form) {
        const auto& context = firing.state().context;
        const auto* known = context.find("strategy");
        if (context.find("deployed") == nullptr && (known == nullptr || *known != form)) {
            firing.record(ContextSet{.context = firing.state().context.with("strategy", form)});
        }
    }

    static Strategy strategy_of(const Firing& firing) {
        const auto* known = firing.state().context.find("strategy");
        auto problems = Problems{};
        return known == nullptr ? Strategy{} : parse_strategy(*known, "strategy", problems);
    }

    static std::int64_t priority_in(const Value& data) {
        const auto* text = data.find("priority");
        auto priority = std::int64_t{0};
        if (text != nullptr && text->is_string()) {
            auto digits = text->as_string();
            std::from_chars(digits.data(), digits.data() + digits.size(), priority);
        }
        return priority;
    }

    static Attempt<void> take(const Firing& firing, Runs& runs, const Runs::Run& run,
                              std::int64_t priority) {
        auto running = std::optional<Runs::Run>{};
        auto waiting = std::optional<Runs::Run>{};
        auto kind = strategy_of(firing).kind;
        if (kind == StrategyKind::FirstOnly || kind == StrategyKind::LastOnly) {
            running = runs.newest("running");
        }
        if (kind != StrategyKind::Parallel && kind != StrategyKind::Sequential) {
            waiting = runs.newest("line");
        }
        if (kind == StrategyKind::FirstOnly && (running || waiting)) {
            runs.answer(run, places::withdrawn,
                        ending("skipped", running ? *running : *waiting,
                               "is under way, and by its strategy others do not begin meanwhile"));
            return {};
        }
        // One that is reopened may be older than those it meets.
        for (const auto& other : {running, waiting}) {
            if (other && other->started > run.started) {
                runs.answer(run, places::withdrawn, superseded(*other));
                return {};
            }
        }
        if (waiting) {
            runs.withdraw_waiting(superseded(run));
        }
        if (running) {
            runs.withdraw_running(superseded(run));
        }
        return runs.add_waiting(run, priority);
    }

    Value deployed_;
};

} // namespace

Made make_admit(const Value& params, const ActionSite& /*site*/, Problems& problems) {
    const auto* strategy = params.find("strategy");
    if (strategy != nullptr) {
        parse_strategy(*strategy, "strategy", problems);
    }
    return std::make_shared<Admit>(strategy == nullptr ? Value{} : *strategy);
}

} // namespace sluice::trigger::actions
