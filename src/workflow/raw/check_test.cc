#include "workflow/raw/check.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workflow/raw/testing/findings.h"

namespace sluice::workflow::raw {
namespace {

using ::testing::ElementsAre;
using testing::findings_in;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

namespace fs = std::filesystem;

std::string with_action(std::string_view action) {
    return fmt::format("name: x\ntriggers:\n  - id: a\n    on: b\n    action:\n      {}\n", action);
}

TEST(Check, FindsNothingInWhatIsRight) {
    EXPECT_THAT(findings_in("name: x\ntriggers:\n  - {id: a, on: b, action: finish}\n"), IsEmpty());
    EXPECT_THAT(findings_in(R"({"name": "x", "triggers": [{"id": "a", "on": "b"}]})"), IsEmpty());
}

TEST(Check, RefusesAFormThatIsNoMap) {
    EXPECT_THAT(findings_in("- a\n"), ElementsAre("f:1:1: found a list, expected a map"));
    EXPECT_THAT(findings_in("hello"), ElementsAre(HasSubstr("f:1:1: found the text \"hello\"")));
}

TEST(Check, NamesWhatIsWrongWithWhomAnEventIsSentTo) {
    EXPECT_THAT(findings_in(with_action("emit: {type: t, to: {run: 5}}")),
                ElementsAre(HasSubstr("triggers/0/action/emit/to/run: ")));
    EXPECT_THAT(findings_in(with_action("emit: {type: t, to: {sink: s, rum: r}}")),
                ElementsAre(HasSubstr("triggers/0/action/emit/to/rum: unknown member")));
    EXPECT_THAT(findings_in(with_action("emit: {type: t, to: nobody}")),
                ::testing::Contains(HasSubstr("triggers/0/action/emit/to: is a string")));
}

TEST(Check, NamesWhatIsMissingAtTheNearestPlace) {
    EXPECT_THAT(findings_in("timeout: 5s\n"),
                ElementsAre(StartsWith("f:1:1: name: found nothing"),
                            StartsWith("f:1:1: triggers: found nothing")));
    EXPECT_THAT(findings_in("name: x\ntriggers:\n  - id: a\n"),
                ElementsAre(StartsWith("f:3:5: triggers/0/on: found nothing")));
}

TEST(Check, FindsEverythingAtOnceInTheOrderOfTheFile) {
    auto found = findings_in(R"(name: x
unmatchd: keep
triggers:
  - id: a
    on: 5
    condition: {count: three}
  - id: a
    on: b
    conditon: all
    filter: data.x >
    action:
      - invoke: {function: echo, inptu: 1}
      - fly: away
timeout: soon
)");
    EXPECT_THAT(
        found,
        ElementsAre(StartsWith("f:2:1: unmatchd: unknown member"),
                    StartsWith("f:5:5: triggers/0/on: found the number 5"),
                    StartsWith("f:6:17: triggers/0/condition/count: found the text \"three\""),
                    StartsWith("f:7:5: triggers/1/id: found the id \"a\" again"),
                    StartsWith("f:9:5: triggers/1/conditon: unknown member"),
                    StartsWith("f:10:5: triggers/1/filter: expected a value"),
                    StartsWith("f:12:34: triggers/1/action/0/invoke/inptu: unknown member"),
                    StartsWith("f:13:9: triggers/1/action/1: unknown action \"fly\""),
                    StartsWith("f:14:1: timeout: found the text \"soon\"")));
}

TEST(Check, SaysOnceWhatCanNeitherBeReadNorCompiled) {
    EXPECT_THAT(findings_in("name: x\ntriggers:\n  - {id: a, on: b, condition: [], action: 5}\n"),
                ElementsAre(StartsWith("f:3:20: triggers/0/condition: found an empty list"),
                            StartsWith("f:3:35: triggers/0/action: found the number 5")));
}

TEST(Check, LeavesTheIndexOutWhereOneActionStandsAlone) {
    EXPECT_THAT(findings_in(with_action("invoke: {function: 7}")),
                ElementsAre(StartsWith("f:6:16: triggers/0/action/invoke/function: is a int")));
}

TEST(Check, FindsInterceptorsInACircle) {
    EXPECT_THAT(findings_in(R"(name: x
triggers:
  - id: a
    intercept: {trigger: b}
  - id: b
    intercept: {trigger: a}
  - id: c
    intercept: {trigger: d}
)"),
                ElementsAre(StartsWith("f:4:5: triggers/0/intercept: interceptors form a cycle"),
                            StartsWith("f:8:17: triggers/2/intercept/trigger: found \"d\"")));
}

TEST(Check, KnowsFunctionsThatAreBuiltInDeclaredOrNamed) {
    for (auto name : {"echo", "sleep", "fail", "flaky", "noop", "${data.which}"}) {
        EXPECT_THAT(findings_in(with_action(fmt::format("invoke: {{function: \"{}\"}}", name))),
                    IsEmpty());
    }
    EXPECT_THAT(
        findings_in(with_action("invoke: mine") + "functions:\n  mine: {command: \"true\"}\n"),
        IsEmpty());
    EXPECT_THAT(findings_in(with_action("invoke: mine"), {.known_functions = {"mine"}}), IsEmpty());
    EXPECT_THAT(
        findings_in(with_action("invoke: mine")),
        ElementsAre("f:6:7: triggers/0/action/invoke: found the text \"mine\", expected a "
                    "function declared under functions, or echo, fail, flaky, noop or sleep"));
    EXPECT_THAT(findings_in(with_action("- invoke: {function: mine}")),
                ElementsAre(StartsWith("f:6:18: triggers/0/action/0/invoke/function: found")));
}

TEST(Check, FindsUnknownFunctionsInTriggersThatAreAddedLater) {
    EXPECT_THAT(findings_in(with_action("add: {id: c, on: d, action: {invoke: mine}}")),
                ElementsAre(StartsWith("f:6:36: triggers/0/action/add/action/invoke: found")));
    EXPECT_THAT(findings_in(with_action("add: [{id: c, on: d, action: [{invoke: mine}]}]")),
                ElementsAre(StartsWith("f:6:38: triggers/0/action/add/0/action/0/invoke: found")));
    EXPECT_THAT(findings_in(with_action("modify: {trigger: a, set: {action: {invoke: mine}}}")),
                ElementsAre(HasSubstr("modify/set/action/invoke: found the text \"mine\"")));
}

TEST(Check, FindsTriggersThatAreToGetAnotherId) {
    EXPECT_THAT(
        findings_in(with_action("modify: {trigger: a, set: {id: z}}")),
        ElementsAre(StartsWith("f:6:34: triggers/0/action/modify/set/id: a trigger keeps")));
    EXPECT_THAT(findings_in(with_action("modify: {trigger: a, set: {id: a, filter: 'true'}}")),
                ElementsAre());
}

TEST(Check, FindsWhatIsWrongWithLimits) {
    EXPECT_THAT(
        findings_in(with_action("finish") + R"(functions:
  a: {command: ls, rate: fast, priority: 5000}
  b: {command: ls, burst: 3, per_key: {concurrency: 0, often: 1}}
  c: {command: ls, per_key: {key: "customer"}}
  d: {command: ls, pool: {max: 0, idle: never}, limits: {memory: 1MB, cpu: 0, cpu_time: -1s}}
  e: {builtin: echo, pool: {}}
  f: {command: ls, limits: 5}
)"),
        UnorderedElementsAre(
            HasSubstr("f:8:20: functions/a/rate: found \"fast\", expected a rate such as"),
            HasSubstr("functions/a/priority: found 5000, expected an integer from -1000 to 1000"),
            HasSubstr("functions/b/burst: a burst is of a rate"),
            HasSubstr("functions/b/per_key/key: found nothing, expected an expression"),
            HasSubstr("functions/b/per_key/concurrency: found 0"),
            HasSubstr("functions/b/per_key/often: unknown member"),
            HasSubstr("functions/c/per_key/key: "), HasSubstr("functions/d/pool/max: found 0"),
            HasSubstr("functions/d/pool/idle: found the text \"never\", expected a duration"),
            HasSubstr("functions/d/limits/memory: found \"1MB\", expected a size such as"),
            HasSubstr("functions/d/limits/cpu: found 0"),
            HasSubstr("functions/d/limits/cpu_time: found the text \"-1s\""),
            HasSubstr("functions/e/pool: only a process function has pool"),
            HasSubstr("functions/f/limits: found 5, expected a map with memory")));
}

TEST(Check, FindsWhatIsWrongWithFunctions) {
    EXPECT_THAT(findings_in(with_action("finish") + R"(functions:
  a: {kind: magic}
  b: {kind: process}
  c: {command: []}
  d: {command: [ls, 5]}
  e: {builtin: explode}
  f: {builtin: echo, cwd: /tmp}
  g: {command: ls, builtin: echo}
  h: {command: ls, timeout: later, concurrency: 0, env: {A: [], "B=": 1}}
  i: {command: ls, retry: {attempts: none, backoff: 0.5, jitter: 2, on: exit, often: true}}
  j: 5
  k: {comand: ls}
)"),
                ElementsAre(HasSubstr("f:8:7: functions/a/kind: found the text \"magic\""),
                            HasSubstr("f:9:3: functions/b/command: found nothing"),
                            HasSubstr("f:10:7: functions/c/command: found a list"),
                            HasSubstr("f:11:7: functions/d/command: found a list"),
                            HasSubstr("f:12:7: functions/e/builtin: found the text \"explode\""),
                            HasSubstr("f:13:22: functions/f/cwd: a builtin function has no cwd"),
                            HasSubstr("f:14:20: functions/g/builtin: a process function has no"),
                            HasSubstr("f:15:20: functions/h/timeout: found the text \"later\""),
                            HasSubstr("f:15:36: functions/h/concurrency: found 0"),
                            HasSubstr("f:15:58: functions/h/env/A: found a list"),
                            HasSubstr("f:15:65: functions/h/env/B=: found 1"),
                            HasSubstr("f:16:28: functions/i/retry/attempts: found the text"),
                            HasSubstr("f:16:44: functions/i/retry/backoff: found 0.5"),
                            HasSubstr("f:16:58: functions/i/retry/jitter: found 2"),
                            HasSubstr("f:16:69: functions/i/retry/on: found the text"),
                            HasSubstr("f:16:79: functions/i/retry/often: unknown member"),
                            HasSubstr("f:17:3: functions/j: found 5, expected a map"),
                            HasSubstr("f:18:3: functions/k: found neither command nor builtin"),
                            HasSubstr("f:18:7: functions/k/comand: unknown member")));
}

TEST(Check, FindsWhatIsWrongWithFunctionsElsewhere) {
    EXPECT_THAT(findings_in(with_action("finish") + R"(functions:
  a: {kind: http}
  b: {url: "ftp://example.org"}
  c: {url: "http://e.org", headers: {Host: x, "a b": c, X: "1\n2", Y: 3}, format: xml}
  d: {kind: poll, url: "http://e.org", heartbeat: soon, offers: 0}
  e: {command: ls, heartbeat: 5s, allow_private: true}
  f: {url: "http://e.org", allow_private: 1, offers: 2}
)"),
                ElementsAre(HasSubstr("functions/a/url: found nothing"),
                            HasSubstr("functions/b/url: found the text \"ftp://example.org\""),
                            HasSubstr("functions/c/headers/Host: expected"),
                            HasSubstr("functions/c/headers/a b: expected"),
                            HasSubstr("functions/c/headers/X: expected"),
                            HasSubstr("functions/c/headers/Y: expected"),
                            HasSubstr("functions/c/format: found the text \"xml\""),
                            HasSubstr("functions/d/url: a poll function has no url"),
                            HasSubstr("functions/d/heartbeat: found the text \"soon\""),
                            HasSubstr("functions/d/offers: found 0"),
                            HasSubstr("functions/e/heartbeat: a process function has no"),
                            HasSubstr("functions/e/allow_private: a process function has no"),
                            HasSubstr("functions/f/allow_private: found 1"),
                            HasSubstr("functions/f/offers: a http function has no offers")));
}

TEST(Check, ChecksNestedDefinitionsLikeTheOuterOne) {
    EXPECT_THAT(
        findings_in(with_action("start: {definition: elsewhere}") + R"(definitions:
  inner:
    name: no
    triggers:
      - id: a
        on: b
        action: {invoke: mine}
    definitions:
      x: {triggers: [{id: a, on: b, lifetime: long}]}
  "bad name": {triggers: [{id: a, on: b}]}
  other: 5
)"),
        ElementsAre(StartsWith("f:9:5: definitions/inner/name: a nested definition goes"),
                    StartsWith("f:13:18: definitions/inner/triggers/0/action/invoke: found"),
                    StartsWith("f:15:7: definitions/inner/definitions/x: found the name"),
                    StartsWith("f:15:37: definitions/inner/definitions/x/triggers/0/lifetime"),
                    StartsWith("f:16:3: definitions/bad name/name: found the text"),
                    StartsWith("f:17:3: definitions/other: found 5, expected a map")));
}

TEST(Check, DeclaresFunctionsAtTheTopOnly) {
    EXPECT_THAT(
        findings_in(with_action("finish") +
                    "definitions:\n  y:\n    functions: {}\n    triggers: [{id: a, on: b}]\n"),
        ElementsAre(StartsWith("f:9:5: definitions/y/functions: functions are declared")));
}

TEST(Check, GivesAtMostAHundredFindings) {
    auto text = std::string{"name: x\ntriggers:\n"};
    for (auto at = 0; at < 300; ++at) {
        text += fmt::format("  - {{id: t{}, on: b, condition: nothing}}\n", at);
    }
    EXPECT_THAT(findings_in(text), SizeIs(100));
}

std::string content_of(const fs::path& path) {
    auto file = std::ifstream{path};
    auto text = std::stringstream{};
    text << file.rdbuf();
    return text.str();
}

/// Blocks that are whole definitions.
std::vector<std::string> definitions_in(const fs::path& page) {
    auto blocks = std::vector<std::string>{};
    auto text = std::istringstream{content_of(page)};
    auto line = std::string{};
    auto is_inside = false;
    while (std::getline(text, line)) {
        if (line.starts_with("```")) {
            is_inside = !is_inside && line == "```yaml";
            if (is_inside) {
                blocks.emplace_back();
            }
        } else if (is_inside) {
            blocks.back() += line + "\n";
        }
    }
    std::erase_if(blocks, [](const auto& block) { return !block.contains("\ntriggers:"); });
    return blocks;
}

std::vector<fs::path> files_in(std::string_view folder, std::string_view extension) {
    auto files = std::vector<fs::path>{};
    for (const auto& entry : fs::directory_iterator{fs::path{PROJECT_FOLDER} / folder}) {
        if (entry.path().extension() == extension) {
            files.push_back(entry.path());
        }
    }
    return files;
}

/// In the language of workflow/dag.
bool is_of_tasks(std::string_view text) {
    return text.contains("\ntasks:");
}

TEST(Check, FindsNothingInTheExamples) {
    auto files = files_in("examples", ".yaml");
    EXPECT_GE(files.size(), 6U);
    for (const auto& file : files) {
        if (is_of_tasks(content_of(file)) || file.stem().extension() == ".test") {
            continue;
        }
        EXPECT_THAT(findings_in(content_of(file)), IsEmpty()) << file;
    }
}

TEST(Check, FindsNothingInTheDefinitionsOfTheDocuments) {
    auto pages = files_in("docs/tutorial", ".md");
    pages.push_back(fs::path{PROJECT_FOLDER} / "docs/reference/triggers.md");
    pages.push_back(fs::path{PROJECT_FOLDER} / "docs/reference/functions.md");
    auto count = std::size_t{0};
    for (const auto& page : pages) {
        for (const auto& block : definitions_in(page)) {
            if (is_of_tasks(block)) {
                continue;
            }
            EXPECT_THAT(findings_in(block), IsEmpty()) << page << "\n" << block;
            ++count;
        }
    }
    EXPECT_GE(count, 10U);
}

} // namespace
} // namespace sluice::workflow::raw
