#include "trial/trial.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "engine/inspector.h"
#include "event/builder.h"
#include "event/codec.h"
#include "server/inspect/explanation.h"
#include "server/inspect/last_states.h"
#include "server/inspect/waiting.h"
#include "trial/internal/judgement.h"
#include "trial/internal/mocked_cast.h"
#include "trial/stage.h"
#include "trigger/arrival.h"
#include "value/time_text.h"
#include "value/wording.h"

namespace sluice::trial {

namespace {

constexpr auto waits_shown_max = std::size_t{10};

const auto run_name = engine::RunName{.id = "test"};

/// One run of a case, from its start to its end, or to where nothing goes on.
class Attempted {
public:
    Attempted(const Subject& subject, const Case& tried, const trigger::Vocabulary& vocabulary,
              const Limits& limits)
        : subject_(subject),
          case_(tried),
          limits_(limits),
          time_(tried.start),
          cast_(tried, subject.functions, time_),
          stage_(vocabulary, time_, cast_),
          words_(tried.words) {}

    Verdict run() {
        auto verdict = Verdict{};
        if (auto begun = begin(); !begun) {
            stop(begun.error().message);
        } else {
            go_on();
        }
        verdict.duration = ended_at_.value_or(time_.steady());
        verdict.differences = std::move(differences_);
        if (ending_) {
            auto outcome = internal::Outcome{.ending = *ending_,
                                             .duration = verdict.duration,
                                             .calls = cast_.calls(),
                                             .sent = cast_.sent(),
                                             .triggers = shown_triggers()};
            internal::judge(case_.expected, outcome, verdict.differences);
            for (const auto& word : words_) {
                verdict.differences.push_back(
                    {.path = {}, .message = unheard(word), .expected = {}, .got = {}});
            }
        }
        return verdict;
    }

private:
    Result<void> begin() {
        TRY(stage_.open());
        TRY(stage_.add(subject_.definitions));
        TRY(stage_.start(run_name.id, subject_.name, case_.input.value_or(subject_.input),
                         [this](const Result<Value>& started) {
                             if (!started) {
                                 stop(started.error().message);
                             }
                         }));
        stage_.post(engine::WatchInput{.run = run_name, .done = [this](Result<Value> ending) {
                                           if (ending) {
                                               ending_ = *std::move(ending);
                                               ended_at_ = time_.steady();
                                           }
                                       }});
        for (const auto& sent : case_.events) {
            time_.after(sent.after, [this, &sent] { send(sent); });
        }
        if (case_.cancel) {
            time_.after(case_.cancel->after, [this] { cancel(case_.cancel->reason); });
        }
        return {};
    }

    void go_on() {
        auto steps = std::uint64_t{0};
        for (auto moment = std::uint64_t{0};; ++moment) {
            while (!is_over() && stage_.step()) {
                if (++steps > limits_.steps) {
                    return stop_waiting("the run goes on without an end");
                }
            }
            if (is_over()) {
                return deliver_rest(limits_.steps - std::min(steps, limits_.steps));
            }
            if (speak()) {
                continue;
            }
            auto next = next_moment();
            if (!next) {
                return stop_waiting("nothing is due any more and the run has not ended");
            }
            if (moment == limits_.moments || time_.steady() + *next > limits_.time) {
                return stop_waiting(fmt::format("the run has not ended after {}",
                                                value::format_duration(time_.steady())));
            }
            time_.advance(*next);
        }
    }

    /// What was sent before the end leaves after it.
    void deliver_rest(std::uint64_t steps) {
        while (ending_ && steps > 0 && stage_.step()) {
            --steps;
        }
    }

    /// Whether the run has ended, or nothing that comes could count.
    bool is_over() {
        if (cast_.missing() && differences_.empty()) {
            stop(*cast_.missing());
        }
        if (stage_.broken() && differences_.empty()) {
            stop(stage_.broken()->message);
        }
        if (!differences_.empty()) {
            ending_.reset();
        }
        return ending_.has_value() || !differences_.empty();
    }

    void stop(std::string message) {
        differences_.push_back(
            {.path = {}, .message = std::move(message), .expected = {}, .got = {}});
    }

    /// `approve sign`
    static std::string text_of(const Word& word) {
        return fmt::format("{} {}", word.action.substr(word.action.find('.') + 1), word.task);
    }

    static std::string unheard(const Word& word) {
        return fmt::format("{} was not said: the task was never {}", text_of(word), word.awaited());
    }

    void stop_waiting(const std::string& message) {
        auto inspector = engine::Inspector{stage_.store(), stage_.vocabulary()};
        auto explained = server::inspect::explain_run(inspector, run_name);
        auto waits = explained ? explained->waits : std::vector<std::string>{};
        auto more = waits.size() > waits_shown_max ? waits.size() - waits_shown_max : 0;
        waits.resize(std::min(waits.size(), waits_shown_max));
        if (more > 0) {
            waits.push_back(fmt::format("and {} more", more));
        }
        std::ranges::transform(words_, std::back_inserter(waits), unheard);
        stop(waits.empty() ? message : fmt::format("{}: {}", message, fmt::join(waits, "; ")));
    }

    /// Of the engine, or when somebody has something to say.
    std::optional<Nanos> next_moment() {
        auto next = stage_.until_next();
        for (const auto& word : words_) {
            auto left = word.after - time_.steady();
            if (left > Nanos{0} && (!next || left < *next)) {
                next = left;
            }
        }
        return next;
    }

    void send(const SentEvent& sent) {
        auto made = event::Builder{fmt::format("{}", ++sent_), "sluice/test", sent.type};
        made.subject(sent.subject).run(run_name.id).scope(sent.scope).time(time_.wall());
        if (!sent.data.is_null()) {
            made.data(sent.data);
        }
        auto events = std::vector<event::Event>{};
        events.push_back(made.build());
        stage_.post(engine::EventsInput{.shard = ShardId{0},
                                        .space = run_name.space,
                                        .events = std::move(events),
                                        .partition = {},
                                        .numbers = {},
                                        .done = {}});
    }

    void cancel(const std::string& reason) {
        auto data = Value{};
        if (!reason.empty()) {
            auto error = Value::object({{"kind", "cancelled"}, {"message", reason}});
            data = Value::object({{"error", std::move(error)}});
        }
        stage_.post(engine::CommandInput{.run = run_name,
                                         .type = std::string{trigger::types::run_cancel},
                                         .data = std::move(data),
                                         .done = {}});
    }

    /// Says what people say now to a task that waits for it; false when there is nothing.
    bool speak() {
        auto is_due = [this](const Word& each) { return each.after <= time_.steady(); };
        if (std::ranges::none_of(words_, is_due)) {
            return false;
        }
        auto inspector = engine::Inspector{stage_.store(), stage_.vocabulary()};
        auto rows = server::inspect::trigger_rows(inspector, run_name);
        auto found = std::ranges::find_if(words_, [&](const Word& word) {
            return is_due(word) && rows && is_awaited(word, *rows);
        });
        if (found == words_.end()) {
            return false;
        }
        say(*found);
        words_.erase(found);
        return true;
    }

    static bool is_awaited(const Word& word,
                           const std::vector<server::inspect::WaitingTrigger>& rows) {
        auto slash = word.task.rfind('/');
        auto scope = slash == std::string::npos ? "" : word.task.substr(0, slash);
        auto name = word.task.substr(slash == std::string::npos ? 0 : slash + 1);
        return std::ranges::any_of(rows, [&](const server::inspect::WaitingTrigger& row) {
            return row.status == word.awaited() && row.scope == scope &&
                   (scope.empty() ? row.id == name : row.id.ends_with("." + name));
        });
    }

    void say(const Word& word) {
        auto action = Value::map({{word.action, word.params}});
        stage_.post(engine::CommandInput{
            .run = run_name,
            .type = std::string{trigger::types::run_command},
            .data = Value::object({{"action", action}}),
            .done = [this, told = text_of(word)](const Result<Value>& said) {
                if (said && value::text_at(*said, "fate") == "handled") {
                    return;
                }
                const auto* reply = said ? said->find("reply") : nullptr;
                const auto* error = reply == nullptr ? nullptr : reply->find("error");
                stop(fmt::format("{} was refused: {}", told,
                                 error != nullptr ? value::text_at(*error, "message")
                                 : said           ? "the run has ended"
                                                  : said.error().message));
            }});
    }

    /// As the run shows them at its end, if somebody asks.
    Value shown_triggers() {
        if (case_.expected.tasks.empty() && case_.expected.fired.empty()) {
            return {};
        }
        auto inspector = engine::Inspector{stage_.store(), stage_.vocabulary()};
        return server::inspect::last_triggers(inspector, run_name).value_or(Value{});
    }

    const Subject& subject_;
    const Case& case_;
    const Limits& limits_;
    reactor::VirtualTime time_;
    internal::MockedCast cast_;
    Stage stage_;
    std::vector<Word> words_; ///< Not yet said.
    std::optional<Value> ending_;
    std::optional<Nanos> ended_at_;
    std::vector<Difference> differences_; ///< Why it could not go on.
    std::uint64_t sent_ = 0;
};

} // namespace

Verdict try_case(const Subject& subject, const Case& tried, const trigger::Vocabulary& vocabulary,
                 const Limits& limits) {
    return Attempted{subject, tried, vocabulary, limits}.run();
}

} // namespace sluice::trial
