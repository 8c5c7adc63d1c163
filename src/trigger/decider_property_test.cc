#include <array>
#include <iostream>
#include <ostream>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "event/builder.h"
#include "trigger/apply.h"
#include "trigger/decider.h"
#include "trigger/testing/naive_model.h"
#include "trigger/testing/state_bytes.h"
#include "value/json.h"

// Does the decider do what the naive model says, whatever the triggers and the order of events?
namespace sluice::trigger {

namespace testing {

void PrintTo(const Outcome& outcome, std::ostream* out) { // NOLINT(readability-identifier-naming)
    *out << fmt::format("{} {}", outcome.number, to_string(outcome.fate));
    for (const auto& id : outcome.fired) {
        *out << " " << id;
    }
}

std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
    PrintTo(outcome, &out);
    return out;
}

} // namespace testing

namespace {

using testing::ModelEvent;
using testing::NaiveModel;
using testing::Outcome;

constexpr auto cases = 600;
constexpr auto cases_of_decider_alone = 200;

/// Choices in small numbers: a definition or an event follows from them, and rapidcheck shrinks
/// them towards zero.
class Genes {
public:
    explicit Genes(std::vector<int> numbers) : numbers_(std::move(numbers)) {}

    std::size_t below(std::size_t bound) {
        auto number = at_ < numbers_.size() ? numbers_[at_++] : 0;
        return static_cast<std::size_t>(number) % bound;
    }

    template <std::size_t size>
    std::string of(const std::array<const char*, size>& choices) {
        return choices[below(size)];
    }

private:
    std::vector<int> numbers_;
    std::size_t at_ = 0;
};

constexpr auto types = std::array{"a", "b", "ab", "c"};
constexpr auto ids = std::array{"t0", "t1", "t2", "t3", "t4"};
constexpr auto written_scopes = std::array{"", "x", "..", "/", "/x", "/x/y", "y"};
constexpr auto event_scopes = std::array{"", "", "", "", "", "x", "x/y", "y"};

Pattern draw_pattern(Genes& genes) {
    constexpr auto patterns = std::array{"a", "b", "a*", "c", "*", "sluice.run.started"};
    constexpr auto subjects = std::array{"*", "*", "*", "s", "s*"};
    return {.type = *TextPattern::parse(genes.of(patterns)),
            .subject = *TextPattern::parse(genes.of(subjects))};
}

Term draw_condition(Genes& genes) {
    auto n = static_cast<std::int64_t>(1 + genes.below(3));
    switch (genes.below(9)) {
        case 1: return {.name = "count", .params = Value{n}};
        case 2: return {.name = "all", .params = {}};
        case 3: return {.name = "sequence", .params = {}};
        case 4: return {.name = "sequence", .params = Value::object({{"strict", true}})};
        case 5:
            return {.name = "count",
                    .params = Value::object({{"n", n}, {"distinct", Value{"data.k"}}})};
        case 6: return {.name = "threshold", .params = Value::object({{"k", n}})};
        case 7:
            return {.name = "threshold", .params = Value::object({{"share", 0.5}, {"of", n + 1}})};
        case 8: return {.name = "count", .params = Value::object({{"distinct", Value{"data.k"}}})};
        default: return {.name = "always", .params = {}};
    }
}

TriggerSpec draw_trigger(Genes& genes, std::string id, int depth);

Term draw_action(Genes& genes, int depth) {
    auto n = static_cast<std::int64_t>(genes.below(4));
    switch (genes.below(12)) {
        case 1: return {.name = "enable", .params = Value::object({{"trigger", genes.of(ids)}})};
        case 2: return {.name = "disable", .params = Value::object({{"trigger", genes.of(ids)}})};
        case 3: return {.name = "remove", .params = Value::object({{"trigger", genes.of(ids)}})};
        case 4:
            return {.name = "open",
                    .params = Value::object({{"scope", genes.of(std::array{"x", "/x/y", "y"})}})};
        case 5:
            return {.name = "close",
                    .params = Value::object({{"scope", genes.of(written_scopes)}})};
        case 6:
            return {
                .name = "set",
                .params = Value::object(
                    {{"triggers", Value::object({{genes.of(ids), Value::object({{"n", n}})}})}})};
        case 7:
            return {.name = "set",
                    .params = Value::object({{"context", Value::object({{"n", n}, {"of", n}})}})};
        case 8:
            if (depth == 0) {
                auto added = draw_trigger(genes, genes.of(ids), 1);
                return {.name = "add", .params = Value::object({{"trigger", to_form(added)}})};
            }
            [[fallthrough]];
        case 9:
            if (n == 3) {
                return {.name = "finish", .params = {}};
            }
            [[fallthrough]];
        default:
            return {.name = "emit",
                    .params = Value::object({{"type", genes.of(types)},
                                             {"subject", "s"},
                                             {"scope", genes.of(written_scopes)},
                                             {"data", Value::object({{"k", n}})}})};
    }
}

TriggerSpec draw_trigger(Genes& genes, std::string id, int depth) {
    auto spec = TriggerSpec{.id = std::move(id)};
    auto patterns = 1 + genes.below(2);
    for (auto at = std::size_t{0}; at < patterns; ++at) {
        spec.on.push_back(draw_pattern(genes));
    }
    spec.condition = draw_condition(genes);
    spec.lifetime = genes.below(2) == 0 ? Lifetime::Persistent : Lifetime::Transient;
    spec.is_enabled = genes.below(3) != 1;
    spec.while_disabled = genes.below(4) == 1 ? WhileDisabled::Miss : WhileDisabled::Park;
    constexpr auto on_error = std::array{OnError::Skip, OnError::Skip, OnError::Skip,
                                         OnError::Skip, OnError::Fail, OnError::Park};
    spec.on_error = on_error[genes.below(on_error.size())];
    auto actions = genes.below(4);
    for (auto at = std::size_t{0}; at < actions; ++at) {
        spec.actions.push_back(draw_action(genes, depth));
    }
    return spec;
}

/// Interceptors act on an earlier trigger, so that a definition has no cycle; those added at run
/// time may try.
void draw_interception(Genes& genes, TriggerSpec& spec, std::size_t earlier) {
    auto when = std::array{InterceptWhen::Before, InterceptWhen::After,
                           InterceptWhen::Instead}[genes.below(3)];
    auto kind = genes.below(6);
    if (kind == 4 && earlier > 0) {
        spec.intercept = {.trigger = ids[genes.below(earlier)], .condition = "", .when = when};
    } else if (kind == 5) {
        spec.intercept = {
            .trigger = "", .condition = genes.of(std::array{"always", "count"}), .when = when};
    }
    if (spec.intercept && genes.below(2) == 0 && spec.condition.name != "all" &&
        spec.condition.name != "sequence") {
        spec.on.clear();
    }
}

SetSpec draw_set(const std::vector<std::vector<int>>& triggers, std::vector<int> numbers) {
    auto spec = SetSpec{};
    spec.name = "drawn";
    for (auto at = std::size_t{0}; at < std::min(triggers.size(), ids.size()); ++at) {
        auto genes = Genes{triggers[at]};
        spec.triggers.push_back(draw_trigger(genes, ids[at], 0));
        draw_interception(genes, spec.triggers.back(), at);
    }
    auto genes = Genes{std::move(numbers)};
    spec.keeps_unmatched = genes.below(3) != 1;
    spec.dedupe = genes.below(4) == 1 ? DedupeMode::None : DedupeMode::Run;
    spec.kept_max = std::array<std::uint32_t, 3>{100, 2, 5}[genes.below(3)];
    spec.kept_full =
        std::array{KeptFull::Refuse, KeptFull::BackPressure, KeptFull::Fail}[genes.below(3)];
    return spec;
}

/// One run, decided as a shard does it: a decider for each event, and now and then everything
/// loaded anew.
class Decided {
public:
    Decided(const SetSpec& spec, DecideLimits limits) : limits_(limits) {
        auto problems = std::vector<Problem>{};
        set_ = TriggerSet::compile(spec, vocabulary_, problems);
        RC_ASSERT(problems.empty());
        state_.id = "run";
        wake();
    }

    void start() {
        decide(start_arrival(state_, {.definition = "drawn", .set = "drawn"}, Value{}, moment_));
    }

    void take(const ModelEvent& event) {
        auto made = event::Builder{event.id, event.source, event.type};
        made.run("run").subject(event.subject).scope(event.scope);
        if (event.key) {
            made.data(Value::object({{"k", *event.key}}));
        }
        decide({.event = made.build(), .moment = moment_});
    }

    void take_turn() {
        decider().take_turn(moment_);
        moment_.time += Nanos{1};
    }

    /// As after a restart: the triggers follow from the state.
    void wake() {
        triggers_ = std::make_unique<RunTriggers>(set_, vocabulary_);
        RC_ASSERT(triggers_->restore(state_).has_value());
    }

    std::string record() { return std::string{journal_.record(Moment{})}; }
    const RunState& state() const { return state_; }

    std::vector<Outcome> outcomes() {
        auto names = std::map<TriggerNumber, std::string>{};
        for (auto at = std::uint32_t{0}; at < set_->size(); ++at) {
            names[TriggerNumber{at}] = set_->at(TriggerNumber{at}).spec.id;
        }
        auto found = std::vector<Outcome>{};
        auto entries = decode_record(record()).value();
        for (const auto& entry : entries) {
            found.push_back({.number = entry.number.raw(), .fate = entry.fate, .fired = {}});
            for (const auto& change : entry.changes) {
                if (const auto* added = std::get_if<Overridden>(&change);
                    added && added->form.is_map()) {
                    names[added->trigger] = std::string{added->form.find("id")->as_string()};
                }
                if (const auto* fired = std::get_if<Fired>(&change)) {
                    RC_ASSERT(fired->fire.raw() == ++fires_);
                    found.back().fired.push_back(names.at(fired->trigger));
                }
            }
        }
        fires_ = 0;
        return found;
    }

private:
    Decider decider() { return {state_, *triggers_, journal_, codec_, limits_}; }

    void decide(const Arrival& arrival) {
        decider().decide(arrival);
        moment_.time += Nanos{1};
    }

    DecideLimits limits_;
    Vocabulary vocabulary_;
    std::shared_ptr<const TriggerSet> set_;
    RunState state_;
    std::unique_ptr<RunTriggers> triggers_;
    Journal journal_;
    event::Codec codec_;
    Moment moment_;
    std::uint64_t fires_ = 0;
};

struct Case {
    SetSpec set;
    DecideLimits limits;
    std::vector<int> steps;
};

Case draw_case() {
    auto gene = rc::gen::inRange(0, 2520);
    auto trigger = rc::gen::resize(40, rc::gen::container<std::vector<int>>(gene));
    auto triggers = *rc::gen::resize(
        5, rc::gen::nonEmpty(rc::gen::container<std::vector<std::vector<int>>>(trigger)));
    auto set = draw_set(triggers, *rc::gen::container<std::vector<int>>(4, gene));
    auto turn = *rc::gen::element<std::uint64_t>(10'000, 1, 3);
    auto steps =
        *rc::gen::resize(30, rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 1'000'000)));
    return {.set = std::move(set),
            .limits = {.own_events_per_turn_max = turn, .own_events_max = 40},
            .steps = std::move(steps)};
}

/// With what the model does not know: closings that take several turns, and further generations.
Case draw_long_case() {
    auto drawn = draw_case();
    drawn.limits.slice_items_max = *rc::gen::element<std::uint64_t>(1'000, 1, 2);
    for (auto& trigger : drawn.set.triggers) {
        for (auto& action : trigger.actions) {
            if (action.name == "finish" && *rc::gen::arbitrary<bool>()) {
                action.name = "continue";
            }
        }
    }
    return drawn;
}

/// A step is an event, sometimes one that came before; a turn; or a restart.
template <typename Run>
void play(Run& run, const Case& drawn) {
    run.start();
    for (auto step : drawn.steps) {
        auto number = static_cast<std::size_t>(step);
        auto draw = [&](std::size_t bound) {
            auto drawn_number = number % bound;
            number /= bound;
            return drawn_number;
        };
        auto kind = draw(8);
        if (kind == 6) {
            run.take_turn();
        } else if (kind == 7) {
            if constexpr (requires { run.wake(); }) {
                run.wake();
            }
        } else {
            auto type = types[draw(types.size())];
            auto scope = event_scopes[draw(event_scopes.size())];
            auto key = static_cast<std::int64_t>(draw(3));
            auto id = fmt::format("{}", draw(24));
            run.take({.source = draw(2) == 0 ? "one" : "two",
                      .id = id,
                      .type = type,
                      .subject = draw(2) == 0 ? "" : "s",
                      .scope = scope,
                      .key = key});
        }
    }
    run.take_turn();
}

template <typename Property>
void check(int least, Property property) {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    auto metadata = rc::detail::TestMetadata{};
    metadata.id = fmt::format("{}/{}", info->test_suite_name(), info->name());
    metadata.description = info->name();
    auto params = rc::detail::configuration().testParams;
    params.maxSuccess = std::max(params.maxSuccess, least);
    auto result = rc::detail::checkTestable(property, metadata, params);
    if (!result.template is<rc::detail::SuccessResult>()) {
        auto message = std::ostringstream{};
        rc::detail::printResultMessage(result, message);
        FAIL() << message.str();
    }
}

TEST(DeciderProperty, DecidesAsTheNaiveModelSays) {
    check(cases, [] {
        auto drawn = draw_case();
        auto model = NaiveModel{drawn.set,
                                {.own_events_per_turn_max = drawn.limits.own_events_per_turn_max,
                                 .own_events_max = drawn.limits.own_events_max}};
        auto decided = Decided{drawn.set, drawn.limits};

        play(model, drawn);
        play(decided, drawn);

        auto outcomes = decided.outcomes();
        RC_LOG() << value::to_json(to_form(drawn.set)) << "\ndecided, and as it should be:\n"
                 << ::testing::PrintToString(outcomes) << "\n"
                 << ::testing::PrintToString(model.outcomes());
        RC_ASSERT(outcomes == model.outcomes());
        RC_ASSERT(decided.state().has_ended() == model.has_ended());
    });
}

TEST(DeciderProperty, FoldsItsHistoryToTheSameState) {
    check(cases_of_decider_alone, [] {
        auto drawn = draw_long_case();
        auto decided = Decided{drawn.set, drawn.limits};
        play(decided, drawn);

        auto folded = RunState{};
        folded.id = "run";
        auto entries = decode_record(decided.record()).value();
        for (const auto& entry : entries) {
            fold(folded, entry);
        }

        RC_LOG() << "decided:\n"
                 << testing::state_text(decided.state()) << "folded:\n"
                 << testing::state_text(folded);
        RC_ASSERT(testing::state_bytes(folded) == testing::state_bytes(decided.state()));
    });
}

TEST(DeciderProperty, DecidesTheSameTwice) {
    check(cases_of_decider_alone, [] {
        auto drawn = draw_long_case();
        auto once = Decided{drawn.set, drawn.limits};
        auto again = Decided{drawn.set, drawn.limits};

        play(once, drawn);
        play(again, drawn);

        RC_ASSERT(once.record() == again.record());
    });
}

} // namespace
} // namespace sluice::trigger
