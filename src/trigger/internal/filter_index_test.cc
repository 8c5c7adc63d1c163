#include "trigger/internal/filter_index.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "event/builder.h"
#include "event/event_view.h"
#include "trigger/testing/decided_run.h"
#include "value/json.h"

namespace sluice::trigger {
namespace {

using ::testing::ElementsAre;

std::shared_ptr<const TriggerSet> set_with(const std::vector<std::string>& filters) {
    auto triggers = std::vector<Value>{};
    for (const auto& filter : filters) {
        auto form = Value::object({{"id", std::to_string(triggers.size())}, {"on", "a"}});
        triggers.push_back(filter.empty() ? form : form.with("filter", filter));
    }
    auto problems = std::vector<Problem>{};
    auto spec =
        parse_set(Value::object({{"name", "t"}, {"triggers", Value::list(std::move(triggers))}}),
                  {}, problems);
    auto set = TriggerSet::compile(std::move(spec), Vocabulary{}, problems);
    EXPECT_TRUE(problems.empty()) << to_error(problems).message;
    return set;
}

event::Event event_with(const Value& data) {
    auto made = event::Builder{"1", "test", "a"};
    made.subject("eu/7");
    made.data(data);
    return made.build();
}

std::vector<std::uint32_t> found_in(const TriggerSet& set, const event::Event& event) {
    auto view = event::EventView{event};
    auto matches = Matches{};
    set.find(view, matches);
    auto numbers = std::vector<std::uint32_t>{};
    for (const auto& match : matches) {
        numbers.push_back(match.trigger.raw());
    }
    return numbers;
}

TEST(FilterIndex, LeavesOutWhatItsConstantsRuleOut) {
    auto set = set_with({"data.kind == 'x'", "data.kind == 'y' && data.n > 1", "",
                         "data.kind in ['x', 'z']", "event.subject.startsWith('eu/')",
                         "event.subject.startsWith('us/')", "data.n == 1", "data.n == 1.0"});

    EXPECT_TRUE(set->has_filters());
    EXPECT_THAT(found_in(*set, event_with(Value::object({{"kind", "x"}, {"n", 1}}))),
                ElementsAre(0, 2, 3, 4, 6, 7));
    EXPECT_THAT(found_in(*set, event_with(Value::object({{"kind", 5}, {"n", 2.5}}))),
                ElementsAre(2, 4));
}

TEST(FilterIndex, KeepsWhatWouldFault) {
    auto set = set_with({"data.kind == 'x'", "data.kind == 'y'", "data.kind.startsWith('x')"});

    EXPECT_THAT(found_in(*set, event_with(Value::object({}))), ElementsAre(0, 1, 2));
    EXPECT_THAT(found_in(*set, event_with(Value::object({{"kind", 1}}))), ElementsAre(2));
}

class EventOnly final : public expr::Bindings {
public:
    explicit EventOnly(event::EventView& view) : view_{view} {}
    std::optional<Value> resolve(std::span<const std::string_view> path) const override {
        return view_.at(path);
    }

private:
    event::EventView& view_;
};

/// Whether deciding about the trigger can differ from not looking at it.
bool matters(const CompiledTrigger& trigger, event::EventView& view) {
    if (!trigger.filter) {
        return true;
    }
    auto outcome = trigger.filter->evaluate(EventOnly{view});
    const auto* value = std::get_if<Value>(&outcome);
    return value == nullptr || (value->is_bool() && value->as_bool());
}

Matches mattering(const TriggerSet& set, Matches matches, event::EventView& view) {
    auto rest = std::ranges::remove_if(
        matches, [&](const Match& match) { return !matters(set.at(match.trigger), view); });
    matches.erase(rest.begin(), rest.end());
    return matches;
}

RC_GTEST_PROP(FilterIndex, LeavesOutNothingThatMatters, ()) {
    auto part = rc::gen::element<std::string>(
        "data.k == 'x'", "'y' == data.k", "data.k == 1", "data.k == 1.0", "data.k == 2u",
        "data.k == true", "data.k == 9007199254740993", "data.k in ['x', 1, false]",
        "data.k in [9007199254740992, 3]", "data.k.startsWith('x')", "data.k.startsWith('')",
        "data.m.k == 'x'", "data.m == null", "event.subject == 'eu/7'",
        "event.subject.startsWith('us')", "event.level == 'high'", "data.n > 1",
        "[1].exists(x, x == data.k)", "has(data.k)", "data.k != 'x'", "true", "data.missing == 1");
    auto scalar = rc::gen::element<Value>(Value{"x"}, Value{"xy"}, Value{"y"}, Value{1}, Value{1.0},
                                          Value{2}, Value{true}, Value{}, Value{1.5},
                                          Value{std::int64_t{9007199254740993}},
                                          Value{9007199254740992.0}, Value::list({"x"}));
    auto filters = std::vector<std::string>{};
    for (auto at = *rc::gen::inRange(1, 8); at > 0; --at) {
        auto parts = *rc::gen::container<std::vector<std::string>>(
            static_cast<std::size_t>(*rc::gen::inRange(0, 4)), part);
        filters.push_back(fmt::format("{}", fmt::join(parts, " && ")));
    }
    auto members = std::vector<value::Member>{};
    for (const auto* name : {"k", "n"}) {
        if (*rc::gen::inRange(0, 4) > 0) {
            members.push_back({name, *scalar});
        }
    }
    members.push_back({"m", Value::object({{"k", *scalar}})});
    auto set = set_with(filters);
    auto event = event_with(Value::map(members));
    auto view = event::EventView{event};
    auto all = Matches{};
    set->index().find(event.type(), event.subject(), all);
    auto narrowed = Matches{};

    set->find(view, narrowed);

    RC_ASSERT(mattering(*set, narrowed, view) == mattering(*set, all, view));
    RC_ASSERT(std::ranges::includes(all, narrowed));
}

class FilteredRun : public testing::DecidedRun {};

TEST_F(FilteredRun, ParksForATriggerThatIsDisabledWhateverItsFilterSays) {
    start(R"({"name":"t","triggers":[
        {"id":"waits","on":"a","filter":"data.kind == 'x'","while_disabled":"park"},
        {"id":"off","on":"off","action":{"disable":"waits"}}]})");

    EXPECT_NE(send_data("a", Value::object({{"kind", "y"}})), Fate::Parked);
    send("off");
    EXPECT_EQ(send_data("a", Value::object({{"kind", "y"}})), Fate::Parked);
}

TEST_F(FilteredRun, IsLateForATriggerThatIsGoneWhateverItsFilterSays) {
    start(R"({"name":"t","triggers":[{"id":"once","on":"a","filter":"data.kind == 'x'"}]})");

    EXPECT_EQ(send_data("a", Value::object({{"kind", "x"}})), Fate::Fired);
    EXPECT_EQ(send_data("a", Value::object({{"kind", "y"}})), Fate::Late);
}

TEST_F(FilteredRun, FailsWhereItsFilterFaults) {
    start(R"({"name":"t","triggers":[
        {"id":"one","on":"a","filter":"data.kind == 'x'","on_error":"skip"}]})");

    EXPECT_EQ(send_data("a", Value::object({{"other", "y"}})), Fate::Failed);
}

} // namespace
} // namespace sluice::trigger
