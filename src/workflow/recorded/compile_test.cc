#include "workflow/recorded/compile.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trigger/trigger_set.h"
#include "value/json.h"
#include "workflow/dag/vocabulary.h"

namespace sluice::workflow::recorded {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;

const auto cases = fs::path{PROJECT_FOLDER} / "tests/conformance/recorded";

std::string read_case(const fs::path& path) {
    auto file = std::ifstream{path};
    auto text = std::stringstream{};
    text << file.rdbuf();
    return text.str();
}

using Compiled = std::expected<raw::Definition, std::vector<raw::Finding>>;

Compiled compile_text(const std::string& text, const std::string& file = "w.json",
                      const std::set<std::string, std::less<>>* functions = nullptr) {
    auto document = raw::parse(text, file);
    if (!document) {
        return std::unexpected(document.error());
    }
    EXPECT_TRUE(is_recorded(document->form)) << file;
    return compile(*document, dag::built_in_operators(), functions);
}

std::string said_of(const Compiled& compiled) {
    auto said = std::string{};
    if (!compiled) {
        for (const auto& finding : compiled.error()) {
            said += raw::to_text(finding) + "\n";
        }
    }
    return said;
}

raw::Definition right(const std::string& name) {
    auto compiled = compile_text(read_case(cases / "right" / name), name);
    EXPECT_EQ(said_of(compiled), "");
    return compiled ? *std::move(compiled) : raw::Definition{};
}

/// `name: function after those before`, of each trigger but the last.
std::vector<std::string> tasks_in(const raw::Definition& definition) {
    auto lines = std::vector<std::string>{};
    for (const auto& trigger : definition.form.find("triggers")->as_list()) {
        auto name = std::string{trigger.find("id")->as_string()};
        if (name == "(end)") {
            continue;
        }
        auto line = name + ":";
        const auto* task = trigger.find("action")->find("dag.task");
        line += " " + std::string{task->find("call")->as_string()};
        for (const auto& pattern : trigger.find("on")->as_list()) {
            if (const auto* subject = pattern.find("subject");
                subject != nullptr && subject->as_string() != name) {
                line += " < " + std::string{subject->as_string()};
            }
        }
        lines.push_back(line);
    }
    return lines;
}

Value input_in(const raw::Definition& definition, std::size_t at) {
    const auto& trigger = definition.form.find("triggers")->as_list()[at];
    return *trigger.find("action")->find("dag.task")->find("input");
}

// Each broken file has beside it what is to be said of it, line by line.
TEST(RecordedCompile, NamesAllThatIsWrongWithItsPlace) {
    auto count = 0;
    for (const auto& entry : fs::directory_iterator{cases / "broken"}) {
        auto expected = entry.path();
        if (expected.extension() == ".expected") {
            continue;
        }
        ++count;
        auto said = said_of(compile_text(read_case(entry.path()), entry.path().filename()));
        expected.replace_extension(".expected");
        if (std::getenv("SLUICE_WRITE_EXPECTED") != nullptr) {
            std::ofstream{expected} << said;
        }
        EXPECT_EQ(said, read_case(expected)) << entry.path();
        EXPECT_FALSE(said.empty()) << entry.path();
    }
    EXPECT_GE(count, 12);
}

TEST(RecordedCompile, GivesTriggersForWhateverIsRight) {
    auto vocabulary = trigger::Vocabulary{};
    dag::add_vocabulary(vocabulary, dag::built_in_operators());
    for (const auto& entry : fs::directory_iterator{cases / "right"}) {
        auto definition = right(entry.path().filename());
        auto problems = std::vector<trigger::Problem>{};
        auto spec = trigger::parse_set(definition.form, {}, problems);
        auto set = trigger::TriggerSet::compile(std::move(spec), vocabulary, problems);
        EXPECT_TRUE(set != nullptr) << entry.path() << trigger::to_error(problems).message;
    }
}

TEST(RecordedCompile, TakesWhatEitherOfTwoTasksSaysOfTheirOrder) {
    auto compiled = compile_text(R"({"name": "w", "workflow": {
        "specification": {"tasks": [{"id": "a", "children": ["b", "c"]}, {"id": "b"},
                                    {"id": "c", "parents": ["a", "b", "a"]}]},
        "execution": {"tasks": [{"id": "a", "runtimeInSeconds": 1.5},
                                {"id": "b", "runtimeInSeconds": 2},
                                {"id": "c", "runtimeInSeconds": 0}]}}})");

    ASSERT_TRUE(compiled) << said_of(compiled);
    EXPECT_EQ(compiled->language, "wfformat");
    EXPECT_THAT(tasks_in(*compiled), ElementsAre("a: a", "b: b < a", "c: c < a < b"));
    EXPECT_EQ(input_in(*compiled, 0), Value::object({{"task", "a"}, {"seconds", 1.5}}));
    EXPECT_EQ(input_in(*compiled, 1), Value::object({{"task", "b"}, {"seconds", 2.0}}));
}

TEST(RecordedCompile, PutsTheTaskWithTheLongestWayToTheEndFirst) {
    auto compiled = compile_text(R"({"name": "w", "workflow": {
        "specification": {"tasks": [{"id": "short", "parents": []},
                                    {"id": "long", "parents": []},
                                    {"id": "first", "parents": []},
                                    {"id": "behind", "parents": ["first"]}]},
        "execution": {"tasks": [{"id": "short", "runtimeInSeconds": 1},
                                {"id": "long", "runtimeInSeconds": 5},
                                {"id": "first", "runtimeInSeconds": 2},
                                {"id": "behind", "runtimeInSeconds": 4}]}}})");
    ASSERT_EQ(said_of(compiled), "");
    auto names = std::vector<std::string>{};
    for (const auto& trigger : compiled->form.find("triggers")->as_list()) {
        names.emplace_back(trigger.find("id")->as_string());
    }
    names.resize(4);
    EXPECT_THAT(names, ElementsAre("first", "long", "short", "behind"));
}

TEST(RecordedCompile, CallsTheProgramUnlessItIsNoNameOrThatOfABuiltInFunction) {
    auto compiled = compile_text(R"({"name": "w", "workflow": {
        "specification": {"tasks": [{"id": "a", "name": "first"}, {"id": "b/1", "name": "second"},
                                    {"id": "(c"}]
}
, "execution" : {
    "tasks" : [
        {"id" : "a", "runtimeInSeconds" : 1, "command" : {"program" : "/opt/bin/mProject"}},
        {"id" : "b/1", "runtimeInSeconds" : 1, "command" : {"program" : "cat a \\\n b"}},
        {"id" : "(c", "runtimeInSeconds" : 1, "command" : {"program" : "sleep"}}
    ]
}
}
})");

    ASSERT_TRUE(compiled) << said_of(compiled);
    EXPECT_THAT(tasks_in(*compiled), ElementsAre("a: mProject", "b_1: second", "_c: _c"));
}

TEST(RecordedCompile, SaysOnceWhichFunctionIsMissed) {
    auto known = std::set<std::string, std::less<>>{"merge"};
    auto compiled = compile_text(R"({"name": "w", "workflow": {
        "specification": {"tasks": [{"id": "a"}, {"id": "b"}, {"id": "c"}]},
        "execution": {"tasks": [
            {"id": "a", "runtimeInSeconds": 1, "command": {"program": "load"}},
            {"id": "b", "runtimeInSeconds": 1, "command": {"program": "load"}},
            {"id": "c", "runtimeInSeconds": 1, "command": {"program": "merge"}}]}}})",
                                 "w.json", &known);

    EXPECT_EQ(said_of(compiled),
              "w.json:4:60: workflow/execution/tasks/0/command/program: there is no function "
              "\"load\", which 2 tasks call: declare it in a file for --functions, set it up on "
              "the server, or run it with --functions simulate\n");
}

TEST(RecordedCompile, ReadsOlderFilesWhoseTasksNameEachOther) {
    auto definition = right("older.json");

    EXPECT_EQ(definition.name, "older-one--1.3-");
    EXPECT_THAT(tasks_in(definition),
                ElementsAre("split_ID1: split", "right_ID3: right < split_ID1",
                            "left_ID2: left_ID2 < split_ID1"));
    EXPECT_THAT(tasks_in(right("oldest.json")), ElementsAre("a: a", "b: b < a"));
}

TEST(RecordedCompile, PlansOfPegasusFollowTheirFilesToo) {
    auto definition = right("diamond.yml");

    EXPECT_EQ(definition.language, "pegasus");
    EXPECT_THAT(tasks_in(definition),
                ElementsAre("ID1: preprocess", "ID2: findrange < ID1", "ID3: findrange < ID1",
                            "ID4: analyze < ID2 < ID3"));
    EXPECT_EQ(value::to_json(input_in(definition, 0)),
              R"({"task":"ID1","seconds":20.0,"arguments":["-i","f.a","$${HOME}","3"],)"
              R"("inputs":["f.a"],"outputs":["f.b1","f.b2"]})");
    EXPECT_EQ(*input_in(definition, 1).find("seconds"), Value{30.0});
    EXPECT_EQ(*input_in(definition, 3).find("seconds"), Value{0.0});
}

TEST(RecordedCompile, DoesNotLookLongForWhatManyWrongNamesMean) {
    auto text = std::string{R"({"name": "w", "workflow": {"tasks": [)"};
    for (auto at = 0; at < 100; ++at) {
        text += fmt::format(R"({{"name": "a task with a long name {}", "runtime": 1}},)", at);
    }
    text += R"({"name": "last", "runtime": 1, "parents": [)";
    for (auto at = 0; at < 100'000; ++at) {
        text += fmt::format(R"("a name that no task here has {}",)", at);
    }
    text.back() = ']';
    text += "}]}}";

    auto compiled = compile_text(text);

    ASSERT_FALSE(compiled);
    EXPECT_EQ(compiled.error().size(), 100U);
}

TEST(RecordedCompile, IsForNoDefinitionOfOurs) {
    for (const auto* text : {"tasks: {}", "triggers: []\nworkflow: x", "name: x", "[1]"}) {
        auto document = raw::parse(text, "f.yaml");
        ASSERT_TRUE(document);
        EXPECT_FALSE(is_recorded(document->form)) << text;
    }
}

} // namespace
} // namespace sluice::workflow::recorded
