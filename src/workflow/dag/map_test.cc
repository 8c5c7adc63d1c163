#include <gmock/gmock.h>

#include "workflow/dag/testing/flow_run.h"

namespace sluice::workflow::dag {
namespace {

using ::testing::ElementsAre;
using testing::FlowRun;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class MapTest : public FlowRun {
protected:
    /// Answers the call with this input.
    void answer_input(const Value& input, const Value& result) {
        for (const auto& [key, task] : state_.tasks) {
            if (task.input == input) {
                auto given = event::Answer{};
                given.result = result;
                decide(trigger::task_arrival(state_, trigger::TaskKey{key}, 1, given, std::nullopt,
                                             moment_));
                return;
            }
        }
        ADD_FAILURE() << "no call has the input " << value::to_json(input);
    }

    void fail_input(const Value& input) {
        for (const auto& [key, task] : state_.tasks) {
            if (task.input == input) {
                decide(trigger::task_arrival(state_, trigger::TaskKey{key}, 1,
                                             event::failure("oops", "it broke"), std::nullopt,
                                             moment_));
                return;
            }
        }
    }

    std::vector<Value> inputs() const {
        auto found = std::vector<Value>{};
        for (const auto& [key, task] : state_.tasks) {
            found.push_back(task.input);
        }
        return found;
    }
};

TEST_F(MapTest, KeepsTheOrderOfItsItems) {
    start(R"(
name: squares
tasks:
  list: {call: f}
  each: {map: {over: "${tasks.list.result}", call: g, input: {x: "${item}", at: "${index}"}}}
  sum: {call: h, after: each, input: "${tasks.each.result}"}
)");
    answer("list", Value::list({5, 6, 7}));
    ASSERT_THAT(inputs(), SizeIs(3));

    answer_input(Value::object({{"x", 7}, {"at", 2}}), 49);
    answer_input(Value::object({{"x", 5}, {"at", 0}}), 25);
    EXPECT_EQ(status("sum"), "pending");
    answer_input(Value::object({{"x", 6}, {"at", 1}}), 36);

    EXPECT_EQ(input_of("sum"), Value::list({25, 36, 49}));
    EXPECT_TRUE(state_.scopes.empty());
    EXPECT_TRUE(state_.collected.empty());
    answer("sum");
    EXPECT_TRUE(has_succeeded());
}

TEST_F(MapTest, DoesNoMoreAtATimeThanItMay) {
    start(R"(
name: limited
tasks:
  each: {map: {over: "${input}", call: f, concurrency: 2}}
)",
          "[1,2,3,4,5]");

    EXPECT_THAT(inputs(), ElementsAre(Value{1}, Value{2}));
    answer_input(2, "b");
    EXPECT_THAT(inputs(), ElementsAre(Value{1}, Value{3}));
    answer_all();

    EXPECT_EQ(result(), R"({"each":[1,"b",3,4,5]})");
}

TEST_F(MapTest, BeginsManyItemsInSlices) {
    limits_.slice_items_max = 4;
    start(R"(
name: sliced
tasks:
  each: {map: {over: 10, call: f}}
)");

    EXPECT_THAT(inputs(), SizeIs(10));
    answer_all();

    EXPECT_EQ(result(), R"({"each":[0,1,2,3,4,5,6,7,8,9]})");
}

TEST_F(MapTest, OfNothingHasEnded) {
    start(R"(
name: empty
tasks:
  each: {map: {over: "${input}", call: f}}
)",
          "[]");

    EXPECT_EQ(result(), R"({"each":[]})");
}

TEST_F(MapTest, UndoesWhatAFailedItemDidInReverseOrder) {
    start(R"(
name: trips
tasks:
  each:
    map:
      over: "${input}"
      tolerate: 1
      tasks:
        flight: {call: f, input: "${item}", on_failure: {call: g, input: "${'no ' + result}"}}
        hotel: {call: f, after: flight, input: "${item + 'h'}", on_failure: {call: g, input: "${'no ' + result}"}}
        pay: {call: f, after: hotel, input: "${item + 'p'}"}
)",
          R"(["a","b"])");
    for (const auto* input : {"a", "b", "ah", "bh", "bp"}) {
        answer_input(input, input);
    }

    fail_input("ap");
    EXPECT_THAT(inputs(), ElementsAre(Value{"no ah"}));
    EXPECT_FALSE(state_.has_ended());
    answer_input("no ah", 1);
    EXPECT_THAT(inputs(), ElementsAre(Value{"no a"}));
    answer_input("no a", 1);

    EXPECT_EQ(result(), R"({"each":[null,{"pay":"bp"}]})");
    EXPECT_TRUE(state_.scopes.empty());
}

TEST_F(MapTest, TellsWhatOfAnItemCouldNotBeUndone) {
    start(R"(
name: trips
tasks:
  each:
    map:
      over: 1
      tasks:
        a: {call: f, input: 1, on_failure: {call: g, input: 2}}
        b: {call: f, after: a, input: 3}
)");
    answer_input(1, 1);
    fail_input(3);

    fail_input(2);

    EXPECT_TRUE(has_failed());
    EXPECT_THAT(error("cause"), HasSubstr("undo_error"));
}

TEST_F(MapTest, FailsWithItsFirstItem) {
    start(R"(
name: failing
tasks:
  each: {map: {over: "${input}", call: f}}
)",
          "[1,2,3]");

    fail_input(2);

    EXPECT_TRUE(has_failed());
    EXPECT_THAT(error("message"), HasSubstr("item 1: it broke"));
    EXPECT_TRUE(state_.tasks.empty());
}

TEST_F(MapTest, ToleratesSoManyFailures) {
    start(R"(
name: tolerant
tasks:
  each: {map: {over: "${input}", call: f, tolerate: 1}}
  next: {call: g, after: each, input: "${tasks.each.failures[0].index}"}
)",
          "[1,2,3]");

    fail_input(2);
    answer_input(1, "a");
    answer_input(3, "c");

    EXPECT_EQ(input_of("next"), Value{1});
    answer("next");
    EXPECT_TRUE(has_succeeded());
}

TEST_F(MapTest, ToleratesAShareOfFailures) {
    start(R"(
name: tolerant
tasks:
  each: {map: {over: 4, call: f, tolerate: 0.5}}
)");

    fail_input(0);
    fail_input(1);
    EXPECT_FALSE(state_.has_ended());
    fail_input(2);

    EXPECT_TRUE(has_failed());
}

TEST_F(MapTest, WorksInBatches) {
    start(R"(
name: batches
tasks:
  each: {map: {over: "${input}", call: f, batch: 2}}
)",
          "[1,2,3,4,5]");

    EXPECT_THAT(inputs(), ElementsAre(Value::list({1, 2}), Value::list({3, 4}), Value::list({5})));
    answer_all();

    EXPECT_EQ(result(), R"({"each":[1,2,3,4,5]})");
}

constexpr auto bodies = R"(
name: bodies
tasks:
  base: {call: f}
  tiles:
    after: base
    map:
      over: "${input}"
      as: tile
      tasks:
        load: {call: f, input: {tile: "${tile}", base: "${tasks.base.result}"}}
        save: {call: g, after: load, input: ["${tasks.load.result}", "${index}"]}
      result: "${tasks.save.result}"
  end: {call: h, after: tiles, input: "${tasks.tiles.result}"}
)";

TEST_F(MapTest, RunsABodyOfTasksForEachItem) {
    start(bodies, R"(["a","b"])");
    answer("base", 1);
    EXPECT_THAT(calls(), ElementsAre("tiles/0/load: f", "tiles/1/load: f"));
    EXPECT_EQ(input_of("tiles/1/load"), *value::parse_json(R"({"tile":"b","base":1})"));

    answer("tiles/1/load", "B");
    EXPECT_EQ(input_of("tiles/1/save"), *value::parse_json(R"(["B",1])"));
    EXPECT_EQ(status("tiles.save", "tiles/0"), "pending");
    answer("tiles/1/save", "second");
    answer("tiles/0/load", "A");
    answer("tiles/0/save", "first");

    EXPECT_EQ(input_of("end"), Value::list({"first", "second"}));
    EXPECT_TRUE(state_.scopes.empty());
    answer("end");
    EXPECT_TRUE(has_succeeded());
}

TEST_F(MapTest, AFailedBodyTakesTheOthersDown) {
    start(bodies, R"(["a","b"])");
    answer("base", 1);

    fail("tiles/1/load");

    EXPECT_TRUE(has_failed());
    EXPECT_EQ(error("task"), "tiles");
    EXPECT_TRUE(state_.tasks.empty());
}

TEST_F(MapTest, ATaskInAnItemMayBeRetriedByAPerson) {
    start(R"(
name: halted
tasks:
  tiles:
    map:
      over: 2
      tasks:
        load: {call: f, on_error: halt, input: "${item}"}
)");
    answer("tiles/0/load", 0);
    fail("tiles/1/load");
    EXPECT_EQ(status("tiles.load", "tiles/1"), "halted");

    EXPECT_EQ(command("task.retry", Value::object({{"task", "tiles/1/load"}})),
              trigger::Fate::Handled);
    answer("tiles/1/load", 1);

    EXPECT_EQ(result(), R"({"tiles":[{"load":0},{"load":1}]})");
}

TEST_F(MapTest, MapsNest) {
    start(R"(
name: nested
tasks:
  rows:
    map:
      over: "${input}"
      as: row
      tasks:
        cells:
          map:
            over: "${row}"
            as: cell
            tasks:
              one: {call: f, input: ["${cell}", "${size(row)}"]}
            result: "${tasks.one.result[0]}"
      result: "${tasks.cells.result}"
)",
          "[[1,2],[3]]");
    EXPECT_THAT(inputs(), SizeIs(3));

    answer_all();

    EXPECT_EQ(result(), R"({"rows":[[1,2],[3]]})");
}

TEST_F(MapTest, AnItemMayTakeTooLong) {
    start(R"(
name: slow
tasks:
  each:
    map:
      over: 2
      timeout: 10s
      tolerate: 1
      tasks:
        a: {call: f, input: "${item}"}
      result: "${tasks.a.result}"
)");
    answer("each/0/a", "fast");

    pass(std::chrono::seconds{10});

    EXPECT_EQ(result(), R"({"each":["fast",null]})");
    EXPECT_TRUE(state_.tasks.empty());
}

TEST_F(MapTest, AnItemWithAFaultyInputFailsTheMap) {
    start(R"(
name: faulty
tasks:
  each: {map: {over: "${input}", call: f, concurrency: 1, input: "${item.x}"}}
)",
          R"([{"x":1},{}])");

    answer_all();

    EXPECT_TRUE(has_failed());
    EXPECT_EQ(error("task"), "each");
    EXPECT_TRUE(state_.scopes.empty() || state_.has_ended());
}

TEST_F(MapTest, BeginsAgainAsAWhole) {
    start(R"(
name: again
tasks:
  each: {map: {over: 3, call: f}}
)");
    fail_input(1);
    ASSERT_TRUE(has_failed());

    reopen();
    EXPECT_THAT(inputs(), SizeIs(3));
    answer_all();

    EXPECT_EQ(result(), R"({"each":[0,1,2]})");
}

} // namespace
} // namespace sluice::workflow::dag
