#include "workflow/dag/check.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workflow/dag/compile.h"
#include "workflow/dag/parse.h"
#include "workflow/dag/vocabulary.h"
#include "workflow/raw/compile.h"

namespace sluice::workflow::dag {
namespace {

namespace fs = std::filesystem;

const auto project = fs::path{PROJECT_FOLDER};

std::string read_file(const fs::path& path) {
    auto file = std::ifstream{path};
    auto text = std::stringstream{};
    text << file.rdbuf();
    return text.str();
}

class CheckTest : public ::testing::Test {
protected:
    CheckTest() { add_vocabulary(vocabulary_, operators_); }

    std::vector<std::string> findings_in(const std::string& yaml, const std::string& file = "f") {
        auto texts = std::vector<std::string>{};
        auto document = raw::parse(yaml, file);
        auto findings = document ? check(*document, operators_, vocabulary_) : document.error();
        for (const auto& finding : findings) {
            texts.push_back(raw::to_text(finding));
        }
        return texts;
    }

    /// What passes the check must compile.
    void expect_right(const std::string& yaml, const std::string& file) {
        EXPECT_THAT(findings_in(yaml, file), ::testing::IsEmpty());
        auto document = raw::parse(yaml, file);
        auto definition = compile(document->form, operators_);
        auto problems = Problems{};
        auto spec = trigger::parse_set(definition.form, {}, problems);
        auto set = trigger::TriggerSet::compile(std::move(spec), vocabulary_, problems);
        EXPECT_TRUE(set != nullptr) << file << ": " << trigger::to_error(problems).message;
    }

    Operators operators_ = built_in_operators();
    trigger::Vocabulary vocabulary_;
};

// Each broken definition has beside it what is to be said of it, line by line.
TEST_F(CheckTest, NamesAllThatIsWrongWithItsPlace) {
    auto folder = project / "tests/conformance/dag/broken";
    auto count = 0;
    for (const auto& entry : fs::directory_iterator{folder}) {
        if (entry.path().extension() != ".yaml" || entry.path().stem().extension() == ".test") {
            continue;
        }
        ++count;
        auto name = entry.path().filename().string();
        auto said = std::string{};
        for (const auto& line : findings_in(read_file(entry.path()), name)) {
            said += line + "\n";
        }
        auto expected = entry.path();
        expected.replace_extension(".expected");
        if (std::getenv("SLUICE_WRITE_EXPECTED") != nullptr) {
            std::ofstream{expected} << said;
        }
        EXPECT_EQ(said, read_file(expected)) << name;
        EXPECT_FALSE(said.empty()) << name;
    }
    EXPECT_GE(count, 30);
}

TEST_F(CheckTest, FindsNothingInTheDocuments) {
    auto pages = std::vector<fs::path>{project / "docs/reference/dag.md"};
    if (fs::exists(project / "docs/tutorial/tasks.md")) {
        pages.push_back(project / "docs/tutorial/tasks.md");
    }
    for (const auto& page : pages) {
        auto text = read_file(page);
        auto found = 0;
        for (auto at = text.find("```yaml\nname:"); at != std::string::npos;
             at = text.find("```yaml\nname:", at + 1)) {
            auto begin = at + 8;
            auto yaml = text.substr(begin, text.find("```", begin) - begin);
            if (is_dag(raw::parse(yaml, "f")->form)) {
                expect_right(yaml, page.filename().string());
                ++found;
            }
        }
        EXPECT_GE(found, 1) << page;
    }
}

TEST_F(CheckTest, FindsNothingInTheExamples) {
    auto found = 0;
    for (const auto& entry : fs::recursive_directory_iterator{project / "examples"}) {
        if (entry.path().extension() != ".yaml") {
            continue;
        }
        auto yaml = read_file(entry.path());
        auto document = raw::parse(yaml, entry.path().string());
        if (document && is_dag(document->form)) {
            expect_right(yaml, entry.path().filename().string());
            ++found;
        }
    }
    EXPECT_GE(found, 1);
}

TEST_F(CheckTest, LooksForReferencesOnlySoFar) {
    auto yaml = std::string{"name: t\ntasks:\n  t0: {call: noop}\n"};
    for (auto at = 1; at < 300; ++at) {
        yaml += fmt::format("  t{}: {{call: echo, after: t{}, input: \"${{tasks.t0.result}}\"}}\n",
                            at, at - 1);
    }

    EXPECT_THAT(findings_in(yaml), ::testing::IsEmpty());
}

TEST_F(CheckTest, OneTriggerForEachTaskWhateverTheItems) {
    auto document = raw::parse(R"(
name: t
tasks:
  a: {call: noop}
  m: {after: a, map: {over: 1000, tasks: {x: {call: noop}, y: {call: noop, after: x}}}}
)",
                               "f");

    auto definition = compile(document->form, operators_);

    auto ids = std::vector<std::string>{};
    for (const auto& trigger : definition.form.find("triggers")->as_list()) {
        ids.emplace_back(trigger.find("id")->as_string());
    }
    EXPECT_THAT(ids, ::testing::ElementsAre("a", "m", "m.x", "m.y", "m.(end)", "(end)"));
    EXPECT_EQ(definition.language, "dag");
}

TEST_F(CheckTest, DoesNotLookLongForWhatManyWrongNamesMean) {
    auto text = std::string{R"({"name": "w", "tasks": {)"};
    for (auto at = 0; at < 100; ++at) {
        text += fmt::format(R"("a task with a long name {}": {{"call": "noop"}},)", at);
    }
    text += R"("last": {"call": "noop", "after": [)";
    for (auto at = 0; at < 100'000; ++at) {
        text += fmt::format(R"("a name that no task here has {}",)", at);
    }
    text.back() = ']';

    EXPECT_EQ(findings_in(text + "}}}").size(), 100U);
}

TEST_F(CheckTest, AnotherScriptIsAnotherDefinition) {
    auto form_of = [&](const std::string& task) {
        auto document = raw::parse("name: t\ntasks: {a: " + task + "}\n", "t.yaml");
        return compile(document->form, operators_).form;
    };

    EXPECT_NE(form_of("{script: echo 1}"), form_of("{script: echo 2}"));
    EXPECT_NE(form_of("{http: {url: 'http://a/b'}}"), form_of("{http: {url: 'http://a/c'}}"));
}

} // namespace
} // namespace sluice::workflow::dag
