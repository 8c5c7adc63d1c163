#include "trigger/spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "trigger/testing/arbitrary_spec.h"
#include "trigger/testing/problems.h"
#include "value/json.h"

namespace sluice::trigger {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::json;
using testing::problem;

struct Parsed {
    TriggerSpec spec;
    std::vector<Problem> problems;
};

Parsed parse(std::string_view text) {
    auto parsed = Parsed{};
    parsed.spec = parse_trigger(json(text), "triggers/2", parsed.problems);
    return parsed;
}

/// The problems of a trigger that is right but for these members.
std::vector<Problem> problems_with(const std::string& members) {
    return parse(R"({"id": "a", "on": "x", )" + members + "}").problems;
}

std::vector<Problem> set_problems(std::string_view text) {
    auto problems = std::vector<Problem>{};
    parse_set(json(text), {}, problems);
    return problems;
}

std::vector<Problem> set_problems_with(const std::string& members) {
    return set_problems(R"({"name": "s", "triggers": [{"id": "a", "on": "x"}], )" + members + "}");
}

TEST(ParseTrigger, HasDefaultsForAllButIdAndOn) {
    auto [spec, problems] = parse(R"({"id": "joined", "on": "order.paid"})");

    EXPECT_THAT(problems, IsEmpty());
    auto expected = TriggerSpec{};
    expected.id = "joined";
    expected.on = {
        {.type = {.kind = TextPattern::Kind::Exact, .text = "order.paid"}, .subject = {}}};
    EXPECT_EQ(spec, expected);
}

TEST(ParseTrigger, ReadsEveryMember) {
    auto [spec, problems] = parse(R"({
        "id": "joined",
        "on": ["order.paid", {"type": "order.*", "subject": "eu/*"}, {"subject": "x"}],
        "filter": "event.data.size > 10",
        "condition": {"count": {"n": 3, "distinct": "event.data.key"}},
        "action": [{"emit": {"type": "x"}}, "finish"],
        "context": {"k": "v"},
        "lifetime": "persistent",
        "enabled": false,
        "while_disabled": "miss",
        "on_error": "park",
        "intercept": {"trigger": "other", "when": "instead"}})");

    EXPECT_THAT(problems, IsEmpty());
    ASSERT_EQ(spec.on.size(), 3U);
    EXPECT_EQ(spec.on[1].type.to_text(), "order.*");
    EXPECT_EQ(spec.on[1].subject.to_text(), "eu/*");
    EXPECT_EQ(spec.on[2].type.to_text(), "*");
    EXPECT_EQ(spec.filter, "event.data.size > 10");
    EXPECT_EQ(spec.condition.name, "count");
    EXPECT_EQ(spec.condition.params, json(R"({"n": 3, "distinct": "event.data.key"})"));
    EXPECT_THAT(spec.actions,
                ElementsAre(Term{"emit", json(R"({"type": "x"})")}, Term{"finish", Value{}}));
    EXPECT_EQ(spec.context, json(R"({"k": "v"})"));
    EXPECT_EQ(spec.lifetime, Lifetime::Persistent);
    EXPECT_FALSE(spec.is_enabled);
    EXPECT_EQ(spec.while_disabled, WhileDisabled::Miss);
    EXPECT_EQ(spec.on_error, OnError::Park);
    EXPECT_EQ(spec.intercept, (Intercept{"other", "", InterceptWhen::Instead}));
}

TEST(ParseTrigger, TakesAMemberThatIsNullAsAbsent) {
    auto [spec, problems] =
        parse(R"({"id": "a", "on": "x", "filter": null, "condition": null, "action": null,
                  "context": null, "lifetime": null, "enabled": null, "intercept": null})");

    EXPECT_THAT(problems, IsEmpty());
    EXPECT_EQ(spec.condition.name, "always");
    EXPECT_TRUE(spec.is_enabled);
}

TEST(ParseTrigger, NeedsAMap) {
    EXPECT_THAT(parse("[]").problems,
                ElementsAre(problem("triggers/2", "found an empty list, expected a map")));
}

TEST(ParseTrigger, NeedsAnIdAndAnOn) {
    EXPECT_THAT(parse("{}").problems,
                ElementsAre(problem("triggers/2/id", "found nothing, expected the trigger's id"),
                            problem("triggers/2/on",
                                    "found nothing, expected an event type, or "
                                    "a list of them")));
}

TEST(ParseTrigger, RefusesABadId) {
    for (const auto& id :
         {std::string{R"("")"}, std::string{R"("a/b")"}, std::string{R"("a\nb")"},
          std::string{R"("\u007f")"}, '"' + std::string(201, 'x') + '"', std::string{"7"}}) {
        auto problems = parse(R"({"on": "x", "id": )" + id + "}").problems;

        ASSERT_EQ(problems.size(), 1U) << id;
        EXPECT_EQ(problems[0].path, "triggers/2/id");
    }
    EXPECT_THAT(parse(R"({"on": "x", "id": ")" + std::string(200, 'x') + "\"}").problems,
                IsEmpty());
    EXPECT_EQ(parse(R"({"on": "x", "id": "a/b"})").problems[0].message,
              "found the text \"a/b\", expected an id of 1 to 200 bytes without '/' or control "
              "characters");
}

TEST(ParseTrigger, NamesTheMemberThatWasMeant) {
    EXPECT_THAT(problems_with(R"("conditon": "all")"),
                ElementsAre(problem("triggers/2/conditon",
                                    "unknown member \"conditon\": did you mean \"condition\"?")));
    EXPECT_THAT(problems_with(R"("enabeld": true)")[0].message,
                HasSubstr("did you mean \"enabled\"?"));
    EXPECT_THAT(problems_with(R"("zzz": 1)")[0].message,
                HasSubstr("unknown member \"zzz\", expected one of id, on, filter"));
}

TEST(ParseTrigger, RefusesABadPattern) {
    auto problems_on = [](const std::string& on) {
        return parse(R"({"id": "a", "on": )" + on + "}").problems;
    };
    EXPECT_THAT(problems_on(R"(["x", "a*b"])"),
                ElementsAre(problem("triggers/2/on/1",
                                    "found a '*' at byte 1 of 3, expected "
                                    "one only at the end")));
    EXPECT_THAT(problems_on(R"({"type": "x", "subject": "*a"})")[0].path, "triggers/2/on/subject");
    EXPECT_THAT(problems_on(R"({"type": 7})")[0].path, "triggers/2/on/type");
    EXPECT_THAT(problems_on(R"([{"typ": "x"}])")[0].path, "triggers/2/on/0/typ");
    EXPECT_THAT(problems_on("{}")[0].message,
                "found neither type nor subject, expected at least one");
    EXPECT_THAT(problems_on("[[]]")[0].message,
                "found an empty list, expected an event type or a map of type and subject");
    EXPECT_THAT(problems_on(R"("")")[0].message,
                "found an empty text, expected an event type or \"*\"");
    EXPECT_EQ(problems_on("[]").size(), 1U);
    EXPECT_EQ(problems_on('"' + std::string(1025, 'x') + '"').size(), 1U);
    EXPECT_EQ(problems_on("[null]").size(), 1U);
}

TEST(ParseTrigger, RefusesABadTerm) {
    EXPECT_THAT(problems_with(R"("condition": {"count": 3, "all": null})"),
                ElementsAre(problem("triggers/2/condition",
                                    "found a map of 2 members, expected a name or a map of one "
                                    "name to its parameters")));
    EXPECT_THAT(problems_with(R"("condition": {})")[0].message, HasSubstr("found an empty map"));
    EXPECT_EQ(problems_with(R"("condition": "")").size(), 1U);
    EXPECT_EQ(problems_with(R"("condition": ["all"])").size(), 1U);
    EXPECT_EQ(problems_with(R"("action": ["a", 7])")[0].path, "triggers/2/action/1");
    EXPECT_EQ(problems_with(R"("action": {"": 7})")[0].path, "triggers/2/action");
}

TEST(ParseTrigger, RefusesBadMembers) {
    EXPECT_THAT(problems_with(R"("lifetime": "forever")"),
                ElementsAre(problem("triggers/2/lifetime",
                                    "found the text \"forever\", "
                                    "expected one of transient, "
                                    "persistent")));
    EXPECT_EQ(problems_with(R"("enabled": "yes")")[0].message,
              "found the text \"yes\", expected true or false");
    EXPECT_EQ(problems_with(R"("context": [1])")[0].message, "found a list, expected a map");
    EXPECT_EQ(problems_with(R"("filter": "")")[0].message,
              "found the text \"\", expected an expression");
    EXPECT_EQ(problems_with(R"("filter": true)")[0].path, "triggers/2/filter");
    EXPECT_EQ(problems_with(R"("while_disabled": 1)")[0].path, "triggers/2/while_disabled");
    EXPECT_EQ(problems_with(R"("on_error": "explode")")[0].path, "triggers/2/on_error");
}

TEST(ParseTrigger, BoundsAnExpression) {
    auto longest = std::string(64UL * 1024, 'x');
    EXPECT_THAT(problems_with(R"("filter": ")" + longest + '"'), IsEmpty());
    EXPECT_THAT(problems_with(R"("filter": ")" + longest + "x\""),
                ElementsAre(problem("triggers/2/filter",
                                    "found an expression of 65537 bytes, "
                                    "expected at most 65536")));
}

TEST(ParseTrigger, RefusesABadIntercept) {
    EXPECT_THAT(problems_with(R"("intercept": {})"),
                ElementsAre(problem("triggers/2/intercept",
                                    "found neither trigger nor condition, expected one of them")));
    EXPECT_EQ(problems_with(R"("intercept": {"trigger": "b", "condition": "all"})")[0].message,
              "found both trigger and condition, expected one of them");
    EXPECT_EQ(problems_with(R"("intercept": {"trigger": "b", "when": "never"})")[0].path,
              "triggers/2/intercept/when");
    EXPECT_EQ(problems_with(R"("intercept": {"trigger": ""})")[0].path,
              "triggers/2/intercept/trigger");
    EXPECT_EQ(problems_with(R"("intercept": {"condition": ""})")[0].path,
              "triggers/2/intercept/condition");
    EXPECT_EQ(problems_with(R"("intercept": "b")")[0].message,
              "found the text \"b\", expected a map");
    EXPECT_THAT(parse(R"({"id": "a", "intercept": {"condition": "all"}})").problems, IsEmpty());
}

TEST(ParseTrigger, ShowsOnlyTheBeginningOfWhatIsLong) {
    auto problems = problems_with(R"("lifetime": ")" + std::string(1'000'000, 'x') + "\", \"" +
                                  std::string(1'000'000, 'y') + "\": 1");

    ASSERT_EQ(problems.size(), 2U);
    for (const auto& found : problems) {
        EXPECT_LT(found.message.size() + found.path.size(), 500U);
    }
}

TEST(ParseTrigger, StopsAtAHundredProblems) {
    auto members = std::string{};
    for (auto number = 0; number < 1000; ++number) {
        members += fmt::format("{}\"u{}\": 1", number == 0 ? "" : ", ", number);
    }
    EXPECT_EQ(problems_with(members).size(), 100U);
    auto actions = Value::list(std::vector<Value>(1000, 7));
    auto problems = std::vector<Problem>{};
    parse_trigger(Value::object({{"id", "a"}, {"on", "x"}, {"action", actions}}), "", problems);
    EXPECT_EQ(problems.size(), 100U);
}

TEST(ParseSet, ReadsEveryMember) {
    auto problems = std::vector<Problem>{};
    auto spec = parse_set(json(R"({
        "name": "orders-2.v_1", "triggers": [{"id": "a", "on": "x"}], "unmatched": "drop",
        "dedupe": {"window": "10m"}, "timeout": "1h30m", "cancel_grace": 30, "retention": 0.5,
        "kept": {"max": 5, "bytes": 1000, "full": "back-pressure", "ttl": "2d"},
        "context": {"k": 1}, "input": [7], "description": "mine"})"),
                          {"description"}, problems);

    using namespace std::chrono_literals;
    EXPECT_THAT(problems, IsEmpty());
    EXPECT_EQ(spec.name, "orders-2.v_1");
    EXPECT_EQ(spec.triggers.size(), 1U);
    EXPECT_FALSE(spec.keeps_unmatched);
    EXPECT_EQ(spec.dedupe, DedupeMode::Window);
    EXPECT_EQ(spec.dedupe_window, 10min);
    EXPECT_EQ(spec.timeout, 90min);
    EXPECT_EQ(spec.cancel_grace, 30s);
    EXPECT_EQ(spec.retention, 500ms);
    EXPECT_EQ(spec.kept_max, 5U);
    EXPECT_EQ(spec.kept_bytes_max, 1000U);
    EXPECT_EQ(spec.kept_full, KeptFull::BackPressure);
    EXPECT_EQ(spec.kept_ttl, 48h);
    EXPECT_EQ(spec.context, json(R"({"k": 1})"));
    EXPECT_EQ(spec.input, json("[7]"));
    EXPECT_EQ(to_form(spec).find("input")->as_list().front(), Value{7});
}

TEST(ParseSet, NeedsANameAndTriggers) {
    EXPECT_THAT(set_problems("{}"),
                ElementsAre(problem("name",
                                    "found nothing, expected a name of 1 to 100 "
                                    "letters, digits, '.', '_' or '-'"),
                            problem("triggers",
                                    "found nothing, expected a list of at least "
                                    "one trigger")));
    EXPECT_EQ(set_problems(R"({"name": "a b", "triggers": []})").size(), 2U);
    EXPECT_THAT(set_problems("3"), ElementsAre(problem("", "found the number 3, expected a map")));
}

TEST(ParseSet, RefusesBadMembers) {
    EXPECT_EQ(set_problems_with(R"("unmatched": "lose")")[0].path, "unmatched");
    EXPECT_EQ(set_problems_with(R"("dedupe": "never")")[0].message,
              "found the text \"never\", expected one of run, none, sequence");
    EXPECT_EQ(set_problems_with(R"("dedupe": {"window": 0})")[0].path, "dedupe/window");
    EXPECT_EQ(set_problems_with(R"("dedupe": {})")[0].path, "dedupe/window");
    EXPECT_EQ(set_problems_with(R"("kept": {"max": -1})")[0].message,
              "found the number -1, expected an integer from 0 to 4294967295");
    EXPECT_EQ(set_problems_with(R"("kept": {"max": 4294967296})")[0].path, "kept/max");
    EXPECT_EQ(set_problems_with(R"("kept": {"full": "burn"})")[0].path, "kept/full");
    EXPECT_EQ(set_problems_with(R"("kept": {"maximum": 1})")[0].path, "kept/maximum");
    EXPECT_EQ(set_problems_with(R"("trigers": [])")[0].message,
              "unknown member \"trigers\": did you mean \"triggers\"?");
}

TEST(ParseSet, RefusesBadDurations) {
    for (const auto* duration :
         {"\"soon\"", "\"-1s\"", "-1", "-0.5", "1e300", "9300000000", "true", "[1]"}) {
        auto problems = set_problems_with(fmt::format("\"timeout\": {}", duration));

        ASSERT_EQ(problems.size(), 1U) << duration;
        EXPECT_EQ(problems[0].path, "timeout");
    }
    EXPECT_EQ(set_problems_with(R"("timeout": "soon")")[0].message,
              "found the text \"soon\", expected a duration such as \"30s\" or \"1h30m\", or a "
              "number of seconds");
}

TEST(ParseSet, RefusesAnIdThatIsThereTwice) {
    EXPECT_THAT(
        set_problems(R"({"name": "s", "triggers": [
                    {"id": "a", "on": "x"}, {"id": "b", "on": "x"}, {"id": "a", "on": "x"}]})"),
        ElementsAre(problem("triggers/2/id",
                            "found the id \"a\" again, expected it once: triggers/0 has it")));
}

TEST(ParseSet, StopsAtAHundredProblemsBetweenTriggersToo) {
    auto triggers = std::vector<Value>(1000, json(R"({"id": "a", "on": "x"})"));
    auto problems = std::vector<Problem>{};

    parse_set(Value::object({{"name", "s"}, {"triggers", Value::list(std::move(triggers))}}), {},
              problems);

    EXPECT_EQ(problems.size(), 100U);
}

TEST(ParseSet, RefusesAnInterceptorOfNoTrigger) {
    EXPECT_THAT(set_problems(R"({"name": "s", "triggers": [
                    {"id": "a", "intercept": {"trigger": "b"}}]})"),
                ElementsAre(problem("triggers/0/intercept/trigger",
                                    "found \"b\", expected the id of a trigger in this set")));
}

TEST(ParseSet, RefusesInterceptorsInACycle) {
    EXPECT_THAT(
        set_problems(R"({"name": "s", "triggers": [
                    {"id": "c", "intercept": {"trigger": "a"}},
                    {"id": "a", "intercept": {"trigger": "b"}},
                    {"id": "b", "intercept": {"trigger": "a"}},
                    {"id": "d", "intercept": {"trigger": "d"}}]})"),
        ElementsAre(problem("triggers/1/intercept", "interceptors form a cycle: a -> b -> a"),
                    problem("triggers/3/intercept", "interceptors form a cycle: d -> d")));
}

TEST(ParseSet, TakesInterceptorsInAChain) {
    EXPECT_THAT(set_problems(R"({"name": "s", "triggers": [
                    {"id": "c", "intercept": {"trigger": "a"}},
                    {"id": "a", "intercept": {"trigger": "b"}},
                    {"id": "b", "on": "x"},
                    {"id": "d", "intercept": {"trigger": "a"}},
                    {"id": "e", "intercept": {"condition": "always"}}]})"),
                IsEmpty());
}

TEST(ParseSet, ShortensALongCycle) {
    auto text = std::string{};
    for (auto number = 0; number < 1000; ++number) {
        text += fmt::format(R"({}{{"id": "t{}", "intercept": {{"trigger": "t{}"}}}})",
                            number == 0 ? "" : ", ", number, (number + 1) % 1000);
    }

    EXPECT_THAT(set_problems(R"({"name": "s", "triggers": [)" + text + "]}"),
                ElementsAre(problem("triggers/0/intercept",
                                    "interceptors form a cycle: t0 -> t1 -> t2 -> t3 -> t4 -> "
                                    "t5 -> t6 -> t7 -> … -> t0")));
}

TEST(ParseSet, IsNotBotheredByDepth) {
    auto deep = value::testing::nested_lists(10'000);
    auto problems = std::vector<Problem>{};

    parse_set(Value::object({{"name", "s"}, {"triggers", deep}, {"context", deep}}), {}, problems);

    EXPECT_EQ(problems.size(), 2U);
}

TEST(ToForm, LeavesOutWhatIsAsByDefault) {
    auto text = R"({"name":"s","triggers":[{"id":"a","on":"x","action":"finish"}]})";
    auto problems = std::vector<Problem>{};

    auto spec = parse_set(json(text), {}, problems);

    EXPECT_EQ(value::to_json(to_form(spec)), text);
}

TEST(ToError, ListsTheFirstProblems) {
    auto problems = std::vector<Problem>(12, {.path = "triggers/2/on", .message = "bad"});
    problems.front().path.clear();

    auto error = to_error(problems);

    EXPECT_EQ(error.code, Errc::InvalidInput);
    EXPECT_THAT(error.message, ::testing::StartsWith("bad; triggers/2/on: bad; "));
    EXPECT_THAT(error.message, ::testing::EndsWith("; and 2 more"));
}

RC_GTEST_PROP(SpecProperty, FormReadsBackTheSame, ()) {
    auto spec = testing::draw_set();

    auto problems = std::vector<Problem>{};
    auto again = parse_set(to_form(spec), {}, problems);

    RC_ASSERT(problems.empty());
    RC_ASSERT(again.triggers == spec.triggers);
    RC_ASSERT(to_form(again) == to_form(spec));
    RC_ASSERT(again.name == spec.name);
    RC_ASSERT(again.keeps_unmatched == spec.keeps_unmatched);
    RC_ASSERT(again.dedupe == spec.dedupe);
    RC_ASSERT(again.dedupe_window == spec.dedupe_window);
    RC_ASSERT(again.timeout == spec.timeout);
    RC_ASSERT(again.cancel_grace == spec.cancel_grace);
    RC_ASSERT(again.retention == spec.retention);
    RC_ASSERT(again.kept_max == spec.kept_max);
    RC_ASSERT(again.kept_bytes_max == spec.kept_bytes_max);
    RC_ASSERT(again.kept_full == spec.kept_full);
    RC_ASSERT(again.kept_ttl == spec.kept_ttl);
    RC_ASSERT(again.context == spec.context);
}

RC_GTEST_PROP(SpecProperty, AnyValueIsReadOrRefused, ()) {
    auto form = *value::testing::arbitrary_value();
    auto problems = std::vector<Problem>{};

    parse_trigger(form, "", problems);
    parse_set(form, {}, problems);

    RC_ASSERT(!problems.empty());
}

} // namespace
} // namespace sluice::trigger
