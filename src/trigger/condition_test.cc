#include "trigger/condition.h"

#include <cmath>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "event/testing/events.h"
#include "expr/testing/bindings.h"
#include "trigger/testing/problems.h"
#include "value/json.h"

namespace sluice::trigger {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::json;
using testing::problem;
using Answer = Verdict::Answer;
using Patterns = std::vector<std::uint32_t>;

struct Made {
    std::shared_ptr<const Condition> condition;
    std::vector<Problem> problems;
};

Made make(std::string_view name, const Value& params, std::size_t patterns = 1) {
    auto made = Made{};
    auto site = ConditionSite{.patterns = patterns,
                              .expressions = expr::testing::options_for(json(R"({"key": 1})"))};
    made.condition = built_in_conditions().find(name)->second(params, site, made.problems);
    return made;
}

std::vector<Problem> problems_of(std::string_view name, std::string_view params,
                                 std::size_t patterns = 1) {
    auto made = make(name, json(params), patterns);
    EXPECT_EQ(made.condition == nullptr, !made.problems.empty());
    return made.problems;
}

/// A condition with what its trigger remembers, kept as the kernel would until it fires.
class Trial {
public:
    Trial(std::string_view name, std::string_view params, std::size_t patterns = 1)
        : made_(make(name, json(params), patterns)) {
        EXPECT_THAT(made_.problems, IsEmpty());
    }

    Trial& remember(std::string_view memory) {
        memory_ = json(memory);
        return *this;
    }
    Answer meet(const Patterns& patterns = {0}, const Value& key = "k") {
        key_ = key;
        return keep(made_.condition->evaluate(input(patterns)));
    }
    Answer recheck() { return keep(made_.condition->recheck(input({}))); }
    Answer expire() { return keep(made_.condition->expire(input({}))); }

    const Condition& condition() const { return *made_.condition; }
    std::uint64_t progress() const { return state_.progress; }
    const expr::Fault& fault() const { return *last_.fault; }

private:
    ConditionInput input(const Patterns& patterns) {
        bindings_ = expr::testing::MapBindings{Value::object({{"key", key_}})};
        return {event_, patterns, state_, memory_, bindings_};
    }
    Answer keep(Verdict verdict) {
        last_ = std::move(verdict);
        EXPECT_EQ(last_.answer == Answer::Fault, last_.fault != nullptr);
        if (last_.answer == Answer::Fault) {
            EXPECT_EQ(last_.progress, state_.progress);
            EXPECT_FALSE(last_.seen);
        }
        state_.progress = last_.progress;
        if (last_.seen) {
            state_.seen.push_back(*last_.seen);
        }
        return last_.answer;
    }

    Made made_;
    Event event_ = event::testing::event_named("x");
    TriggerState state_;
    Value memory_;
    Value key_;
    expr::testing::MapBindings bindings_;
    Verdict last_;
};

TEST(Conditions, AreSeven) {
    auto names = std::vector<std::string>{};
    for (const auto& [name, factory] : built_in_conditions()) {
        names.push_back(name);
    }

    EXPECT_THAT(names, ElementsAre("all", "always", "count", "expression", "quorum", "sequence",
                                   "threshold"));
}

TEST(Always, FiresOnEachEvent) {
    auto trial = Trial{"always", "null"};

    EXPECT_EQ(trial.meet(), Answer::Fire);
    EXPECT_EQ(trial.meet(), Answer::Fire);
    EXPECT_EQ(trial.progress(), 0U);
}

TEST(Always, HasNothingToRecheckAndNoDeadline) {
    auto trial = Trial{"always", "{}"};

    EXPECT_EQ(trial.recheck(), Answer::Wait);
    EXPECT_EQ(trial.expire(), Answer::Wait);
    EXPECT_FALSE(trial.condition().deadline());
}

TEST(Always, RefusesParameters) {
    EXPECT_THAT(problems_of("always", "3"),
                ElementsAre(problem("", "found the number 3, expected no parameters")));
}

TEST(Count, FiresWhenItIsReached) {
    auto trial = Trial{"count", "3"};

    EXPECT_EQ(trial.meet(), Answer::Wait);
    EXPECT_EQ(trial.meet(), Answer::Wait);
    EXPECT_EQ(trial.recheck(), Answer::Wait);
    EXPECT_EQ(trial.meet(), Answer::Fire);
    EXPECT_EQ(trial.progress(), 3U);
}

TEST(Count, OfDistinctKeysIgnoresAKeyItHasMet) {
    auto trial = Trial{"count", R"({"n": 2, "distinct": "key"})"};

    EXPECT_EQ(trial.meet({0}, "a"), Answer::Wait);
    EXPECT_EQ(trial.meet({0}, "a"), Answer::Wait);
    EXPECT_EQ(trial.progress(), 1U);
    EXPECT_EQ(trial.meet({0}, "b"), Answer::Fire);
}

TEST(Count, TakesKeysAsOneWhoseMembersDifferOnlyInOrder) {
    auto trial = Trial{"count", R"({"n": 3, "distinct": "key"})"};

    trial.meet({0}, json(R"([{"a": 1, "b": 2}])"));
    trial.meet({0}, json(R"([{"b": 2, "a": 1}])"));

    EXPECT_EQ(trial.progress(), 1U);
}

TEST(Count, TellsATextFromANumber) {
    auto trial = Trial{"count", R"({"n": 3, "distinct": "key"})"};

    trial.meet({0}, 1);
    trial.meet({0}, "1");

    EXPECT_EQ(trial.progress(), 2U);
}

TEST(Count, FindsAKeyAmongThousands) {
    auto trial = Trial{"count", R"({"distinct": "key"})"};
    for (auto key = 0; key < 2000; ++key) {
        trial.meet({0}, key);
    }

    trial.meet({0}, 1234);

    EXPECT_EQ(trial.progress(), 2000U);
}

TEST(Count, WithoutASizeWaitsUntilItsContextHasOne) {
    auto trial = Trial{"count", "{}"};

    EXPECT_EQ(trial.meet(), Answer::Wait);
    EXPECT_EQ(trial.meet(), Answer::Wait);
    EXPECT_EQ(trial.recheck(), Answer::Wait);

    EXPECT_EQ(trial.remember(R"({"n": 3})").recheck(), Answer::Wait);
    EXPECT_EQ(trial.remember(R"({"n": 2})").recheck(), Answer::Fire);
    EXPECT_EQ(trial.progress(), 2U);
}

TEST(Count, LearnsItsSizeBeforeTheLastEvent) {
    auto trial = Trial{"count", R"({"distinct": "key"})"};
    trial.meet({0}, "a");
    trial.remember(R"({"n": 2})");

    EXPECT_EQ(trial.meet({0}, "a"), Answer::Wait);
    EXPECT_EQ(trial.meet({0}, "b"), Answer::Fire);
}

TEST(Count, OfNothingFiresAtOnce) {
    auto trial = Trial{"count", "{}"};

    EXPECT_EQ(trial.remember(R"({"n": 0})").recheck(), Answer::Fire);
    EXPECT_EQ(trial.progress(), 0U);
}

TEST(Count, GoesByItsContextRatherThanByItsParameter) {
    auto trial = Trial{"count", "1"};

    EXPECT_EQ(trial.remember(R"({"n": 2})").meet(), Answer::Wait);
    EXPECT_EQ(trial.meet(), Answer::Fire);
    EXPECT_EQ(trial.remember(R"({"n": null, "m": 9})").meet(), Answer::Fire);
}

TEST(Count, FaultsWhenItsContextHasNoProperSize) {
    for (const auto* size : {"-1", "\"3\"", "2.5", "[]"}) {
        auto trial = Trial{"count", "{}"};
        trial.remember(fmt::format(R"({{"n": {}}})", size));

        EXPECT_EQ(trial.meet(), Answer::Fault) << size;
        EXPECT_EQ(trial.recheck(), Answer::Fault) << size;
        EXPECT_EQ(trial.fault().code, "invalid_size");
    }
    auto trial = Trial{"count", R"({"distinct": "key"})"};
    EXPECT_EQ(trial.remember(R"({"n": "3"})").meet(), Answer::Fault);
    EXPECT_EQ(trial.fault().message,
              "found the text \"3\" as `n` in the trigger's context, "
              "expected an integer of at least 0");
}

TEST(Count, FaultsWhenItsKeyDoes) {
    auto trial = Trial{"count", R"({"n": 1, "distinct": "key.missing"})"};

    EXPECT_EQ(trial.meet({0}, json(R"({"a": 1})")), Answer::Fault);
    EXPECT_EQ(trial.progress(), 0U);
}

TEST(Count, RefusesBadParameters) {
    EXPECT_THAT(problems_of("count", "0"),
                ElementsAre(problem("",
                                    "found the number 0, expected an integer of at least 1, or "
                                    "a map of n and distinct")));
    EXPECT_THAT(problems_of("count", "null")[0].message, HasSubstr("found nothing"));
    EXPECT_EQ(problems_of("count", "-3").size(), 1U);
    EXPECT_EQ(problems_of("count", "1.5").size(), 1U);
    EXPECT_EQ(problems_of("count", R"("3")").size(), 1U);
    EXPECT_THAT(problems_of("count", R"({"n": 0})"),
                ElementsAre(problem("n", "found the number 0, expected an integer of at least 1")));
    EXPECT_THAT(
        problems_of("count", R"({"n": 1, "distnct": "key"})"),
        ElementsAre(problem("distnct", "unknown member \"distnct\": did you mean \"distinct\"?")));
    EXPECT_EQ(problems_of("count", R"({"n": 1, "distinct": "key +"})")[0].path, "distinct");
    EXPECT_EQ(problems_of("count", R"({"n": 1, "distinct": "stranger"})")[0].path, "distinct");
    EXPECT_EQ(problems_of("count", R"({"n": 1, "distinct": ""})")[0].path, "distinct");
}

TEST(All, FiresWhenEachPatternWasMet) {
    auto trial = Trial{"all", "null", 3};

    EXPECT_EQ(trial.meet({2}), Answer::Wait);
    EXPECT_EQ(trial.meet({0}), Answer::Wait);
    EXPECT_EQ(trial.meet({0, 2}), Answer::Wait);
    EXPECT_EQ(trial.progress(), 0b101U);
    EXPECT_EQ(trial.meet({1}), Answer::Fire);
}

TEST(All, FiresOnOneEventThatMeetsAll) {
    EXPECT_EQ((Trial{"all", "null", 2}.meet({0, 1})), Answer::Fire);
}

TEST(All, TakesSixtyFourPatterns) {
    auto trial = Trial{"all", "null", 64};
    for (auto pattern = 63U; pattern > 0; --pattern) {
        EXPECT_EQ(trial.meet({pattern}), Answer::Wait);
    }

    EXPECT_EQ(trial.meet({0}), Answer::Fire);
}

TEST(All, RefusesParametersAndTooManyPatterns) {
    EXPECT_THAT(problems_of("all", "null", 65),
                ElementsAre(problem("", "found 65 patterns in `on`, expected 1 to 64")));
    EXPECT_EQ(problems_of("all", "null", 0).size(), 1U);
    EXPECT_EQ(problems_of("all", "[1]", 2).size(), 1U);
}

TEST(Sequence, IgnoresWhatIsNotTheNext) {
    auto trial = Trial{"sequence", "null", 3};

    EXPECT_EQ(trial.meet({1}), Answer::Wait);
    EXPECT_EQ(trial.progress(), 0U);
    EXPECT_EQ(trial.meet({0}), Answer::Wait);
    EXPECT_EQ(trial.meet({2}), Answer::Wait);
    EXPECT_EQ(trial.meet({0, 1}), Answer::Wait);
    EXPECT_EQ(trial.progress(), 2U);
    EXPECT_EQ(trial.meet({2}), Answer::Fire);
}

TEST(Sequence, TakesOneStepForOneEvent) {
    auto trial = Trial{"sequence", "{}", 2};

    EXPECT_EQ(trial.meet({0, 1}), Answer::Wait);
    EXPECT_EQ(trial.meet({0, 1}), Answer::Fire);
}

TEST(Sequence, BeginsAgainWhenItIsStrict) {
    auto trial = Trial{"sequence", R"({"strict": true})", 3};

    trial.meet({0});
    trial.meet({1});
    EXPECT_EQ(trial.meet({1}), Answer::Wait);
    EXPECT_EQ(trial.progress(), 0U);
    trial.meet({0});
    trial.meet({1});
    EXPECT_EQ(trial.meet({0}), Answer::Wait);
    EXPECT_EQ(trial.progress(), 1U);
    trial.meet({1});
    EXPECT_EQ(trial.meet({2}), Answer::Fire);
}

TEST(Sequence, RefusesBadParameters) {
    EXPECT_EQ(problems_of("sequence", R"({"strict": "yes"})", 2)[0].path, "strict");
    EXPECT_EQ(problems_of("sequence", R"({"strickt": true})", 2)[0].path, "strickt");
    EXPECT_EQ(problems_of("sequence", "true", 2)[0].message, "found true, expected a map");
    EXPECT_EQ(problems_of("sequence", "null", 0)[0].message,
              "found no patterns in `on`, expected at least one");
}

TEST(Threshold, FiresAtANumber) {
    auto trial = Trial{"threshold", R"({"k": 2, "of": 3})"};

    EXPECT_EQ(trial.meet(), Answer::Wait);
    EXPECT_EQ(trial.meet(), Answer::Fire);
}

TEST(Threshold, FiresAtAShareRoundedUp) {
    auto trial = Trial{"threshold", R"({"share": 0.5, "of": 5})"};

    EXPECT_EQ(trial.meet(), Answer::Wait);
    EXPECT_EQ(trial.meet(), Answer::Wait);
    EXPECT_EQ(trial.meet(), Answer::Fire);
}

TEST(Threshold, TakesAShareAsItIsWritten) {
    auto needed = [](std::string_view share, std::string_view whole) {
        auto trial = Trial{"threshold", fmt::format(R"({{"share": {}, "of": {}}})", share, whole)};
        while (trial.meet() == Answer::Wait) {
        }
        return trial.progress();
    };

    EXPECT_EQ(needed("0.28", "25"), 7U);
    EXPECT_EQ(needed("0.07", "100"), 7U);
    EXPECT_EQ(needed("0.7", "10"), 7U);
    EXPECT_EQ(needed("0.29", "100"), 29U);
    EXPECT_EQ(needed("0.291", "100"), 30U);
    EXPECT_EQ(needed("0.000000000001", "5"), 1U);
    EXPECT_EQ(needed("0.9999", "5"), 5U);
    EXPECT_EQ(needed("1", "4"), 4U);
    EXPECT_EQ(needed("1.0", "4"), 4U);
}

TEST(Threshold, LearnsTheWholeFromItsContext) {
    auto trial = Trial{"threshold", R"({"share": 0.5})"};

    EXPECT_EQ(trial.meet(), Answer::Wait);
    EXPECT_EQ(trial.meet(), Answer::Wait);
    EXPECT_EQ(trial.remember(R"({"of": 5})").recheck(), Answer::Wait);
    EXPECT_EQ(trial.remember(R"({"of": 4})").recheck(), Answer::Fire);
    EXPECT_EQ(trial.remember(R"({"of": 0})").recheck(), Answer::Fire);
    EXPECT_EQ(trial.remember(R"({"of": "x"})").recheck(), Answer::Fault);
}

TEST(Threshold, KeepsTheContextOutOfAPlainNumber) {
    auto trial = Trial{"threshold", R"({"k": 2})"};

    EXPECT_EQ(trial.remember(R"({"of": "x", "n": 1})").meet(), Answer::Wait);
}

TEST(Threshold, CountsDistinctKeys) {
    auto trial = Trial{"threshold", R"({"k": 2, "distinct": "key"})"};

    trial.meet({0}, "a");
    EXPECT_EQ(trial.meet({0}, "a"), Answer::Wait);
    EXPECT_EQ(trial.meet({0}, "b"), Answer::Fire);
}

TEST(Threshold, SharesOfTheLargestNumbersStayInRange) {
    auto trial = Trial{"threshold", R"({"share": 0.9999999999999999})"};

    EXPECT_EQ(trial.remember(R"({"of": 18446744073709551615})").meet(), Answer::Wait);
}

TEST(Threshold, RefusesBadParameters) {
    EXPECT_THAT(problems_of("threshold", "{}"),
                ElementsAre(problem("k", "found neither k nor share, expected one of them")));
    EXPECT_THAT(problems_of("threshold", R"({"k": 1, "share": 0.5})"),
                ElementsAre(problem("share", "found both k and share, expected one of them")));
    EXPECT_THAT(problems_of("threshold", R"({"k": 4, "of": 3})"),
                ElementsAre(problem("k", "found the number 4, expected at most 3, which is `of`")));
    EXPECT_EQ(problems_of("threshold", R"({"k": 0})")[0].path, "k");
    for (const auto* share : {"0", "-0.5", "1.01", "1e300"}) {
        EXPECT_THAT(problems_of("threshold", fmt::format(R"({{"share": {}}})", share))[0].message,
                    HasSubstr("expected a number above 0 and up to 1"));
    }
    EXPECT_EQ(problems_of("threshold", R"({"share": "half"})")[0].path, "share");
    EXPECT_EQ(problems_of("threshold", R"({"share": 0.5, "of": 0})")[0].path, "of");
    EXPECT_EQ(problems_of("threshold", "3")[0].message, "found the number 3, expected a map");
    EXPECT_EQ(problems_of("threshold", "null").size(), 1U);
    EXPECT_EQ(problems_of("threshold", R"({"k": 1, "deadline": "1s"})")[0].path, "deadline");
    auto not_a_number = make("threshold", Value::object({{"share", std::nan("")}}));
    EXPECT_EQ(not_a_number.problems.size(), 1U);
}

TEST(Quorum, FiresEarlyWhenEnoughHaveCome) {
    auto trial = Trial{"quorum", R"({"k": 2, "deadline": "10m"})"};

    EXPECT_EQ(trial.condition().deadline(), std::chrono::minutes{10});
    EXPECT_EQ(trial.meet(), Answer::Wait);
    EXPECT_EQ(trial.meet(), Answer::Fire);
}

TEST(Quorum, FiresAtItsDeadlineWithWhatIsThere) {
    auto trial = Trial{"quorum", R"({"k": 5, "deadline": 60})"};

    EXPECT_EQ(trial.expire(), Answer::Fire);
    EXPECT_EQ(trial.progress(), 0U);
}

TEST(Quorum, FaultsAtItsDeadlineWithLessThanItsMinimum) {
    auto trial = Trial{"quorum", R"({"share": 0.8, "of": 5, "deadline": "1h30m", "min": 2})"};
    trial.meet();

    EXPECT_EQ(trial.expire(), Answer::Fault);
    EXPECT_EQ(trial.fault().code, "quorum_missed");
    EXPECT_EQ(trial.fault().message, "found 1 after 1h30m, expected at least 2");

    trial.meet();
    EXPECT_EQ(trial.expire(), Answer::Fire);
}

TEST(Quorum, LearnsTheWholeFromItsContext) {
    auto trial = Trial{"quorum", R"({"share": 1, "deadline": "1s"})"};

    trial.meet();
    EXPECT_EQ(trial.recheck(), Answer::Wait);
    EXPECT_EQ(trial.remember(R"({"of": 1})").recheck(), Answer::Fire);
}

TEST(Quorum, RefusesBadParameters) {
    EXPECT_THAT(problems_of("quorum", R"({"k": 1})"),
                ElementsAre(problem("deadline",
                                    "found nothing, expected a duration above zero, "
                                    "such as \"10m\"")));
    EXPECT_EQ(problems_of("quorum", R"({"k": 1, "deadline": 0})")[0].path, "deadline");
    EXPECT_EQ(problems_of("quorum", R"({"k": 1, "deadline": "soon"})").size(), 1U);
    EXPECT_EQ(problems_of("quorum", R"({"deadline": "1s"})")[0].path, "k");
    EXPECT_EQ(problems_of("quorum", R"({"k": 1, "deadline": "1s", "min": -1})")[0].path, "min");
    EXPECT_THAT(
        problems_of("quorum", R"({"share": 0.5, "of": 4, "deadline": "1s", "min": 3})"),
        ElementsAre(problem("min", "found the number 3, expected at most 2, at which it fires")));
    EXPECT_EQ(problems_of("quorum", "[]").size(), 1U);
}

TEST(Expression, FiresWhenItIsTrue) {
    for (const auto* params : {R"("key == 2")", R"({"when": "key == 2"})"}) {
        auto trial = Trial{"expression", params};

        EXPECT_EQ(trial.meet({0}, 1), Answer::Wait);
        EXPECT_EQ(trial.meet({0}, 2), Answer::Fire);
        EXPECT_EQ(trial.progress(), 0U);
    }
}

TEST(Expression, FaultsWhenItCannotBeEvaluated) {
    auto trial = Trial{"expression", R"("key.size > 3")"};

    EXPECT_EQ(trial.meet({0}, json(R"({"other": 1})")), Answer::Fault);
    EXPECT_EQ(trial.fault().code, "no_such_member");
}

TEST(Expression, FaultsWhenItTurnsOutNotToBeABool) {
    auto trial = Trial{"expression", R"("key")"};

    EXPECT_EQ(trial.meet({0}, true), Answer::Fire);
    EXPECT_EQ(trial.meet({0}, "yes"), Answer::Fault);
    EXPECT_EQ(trial.fault().code, "not_bool");
}

TEST(Expression, RefusesBadParameters) {
    EXPECT_THAT(problems_of("expression", "null"),
                ElementsAre(problem("", "found nothing, expected an expression")));
    EXPECT_EQ(problems_of("expression", "{}")[0].path, "when");
    EXPECT_EQ(problems_of("expression", R"({"when": "true", "if": "true"})")[0].path, "if");
    EXPECT_EQ(problems_of("expression", R"({"when": 3})")[0].path, "when");
    EXPECT_EQ(problems_of("expression", R"("key ==")")[0].path, "");
    EXPECT_EQ(problems_of("expression", R"("stranger == 1")").size(), 1U);
    EXPECT_EQ(problems_of("expression", R"("1 + 1")").size(), 1U);
    EXPECT_EQ(problems_of("expression", '"' + std::string(70'000, ' ') + "true\"").size(), 1U);
}

RC_GTEST_PROP(CountProperty, FiresWithTheLastOfItsDistinctKeysWhateverTheirOrder, ()) {
    auto keys = *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 6)));
    auto distinct = std::set<int>(keys.begin(), keys.end());
    auto trial = Trial{"count", fmt::format(R"({{"n": {}, "distinct": "key"}})", distinct.size())};

    auto met = std::set<int>{};
    for (auto key : keys) {
        auto is_last = met.insert(key).second && met.size() == distinct.size();
        RC_ASSERT(trial.meet({0}, key) == (is_last ? Answer::Fire : Answer::Wait));
    }
}

} // namespace
} // namespace sluice::trigger
