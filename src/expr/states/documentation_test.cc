#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "expr/states/choice.h"
#include "expr/states/selector.h"
#include "expr/states/template.h"
#include "expr/states/testing/scene.h"
#include "expr/testing/reference_page.h"
#include "value/json.h"

namespace sluice::expr::states {
namespace {

using expr::testing::ReferencePage;

const auto folder = std::filesystem::path{STATES_DOCUMENTS};

/// The pages leave out what the input is.
std::string with_short_input(std::string text) {
    constexpr auto mark = std::string_view{"in the input '"};
    auto at = text.find(mark);
    return at == std::string::npos ? text : text.substr(0, at + mark.size()) + "{…}'";
}

testing::Scene scene_of(const ReferencePage& page) {
    return testing::Scene{value::to_json(page.sample()), R"({"Execution": {"Name": "run-1"}})",
                          R"({"limit": {"max": 100}})"};
}

std::string documented(const ReferencePage& page, const std::string& form, Language language) {
    auto made = Template::compile(value::parse_json(form).value(), {.language = language});
    if (!made) {
        return "refused: " + made.error().front().message;
    }
    auto field = language == Language::Jsonata ? "Output" : "Parameters";
    return with_short_input(testing::told(made->evaluate(scene_of(page).sight(), field)));
}

TEST(StatesReference, TellsTheTruthAboutFunctions) {
    auto page = ReferencePage{folder / "intrinsic-functions.md"};
    auto examples = page.examples("intrinsic");

    EXPECT_GT(examples.size(), 40U);
    for (const auto& [source, result] : examples) {
        auto selector = Selector::compile(source, Selector::Kind::PathOrFunction);
        auto value =
            selector ? selector->read(scene_of(page).sight()) : std::unexpected(Failure{"refused"});
        EXPECT_EQ(value ? value::to_json(*value) : *value.error().error, result) << source;
    }
}

TEST(StatesReference, TellsTheTruthAboutPaths) {
    auto page = ReferencePage{folder / "fields.md"};
    auto examples = page.examples("path");

    EXPECT_GT(examples.size(), 10U);
    for (const auto& [source, result] : examples) {
        auto selector = Selector::compile(source, Selector::Kind::Path);
        EXPECT_EQ(selector ? testing::told(selector->read(scene_of(page).sight())) : "refused",
                  result)
            << source;
    }
}

TEST(StatesReference, TellsTheTruthAboutTemplates) {
    auto page = ReferencePage{folder / "fields.md"};
    auto paths = page.examples("template");
    auto queries = page.examples("jsonata");

    EXPECT_GT(paths.size() + queries.size(), 15U);
    for (const auto& [source, result] : paths) {
        EXPECT_EQ(documented(page, source, Language::JsonPath), result) << source;
    }
    for (const auto& [source, result] : queries) {
        EXPECT_EQ(documented(page, source, Language::Jsonata), result) << source;
    }
}

TEST(StatesReference, TellsTheTruthAboutConditions) {
    auto page = ReferencePage{folder / "fields.md"};
    auto examples = page.examples("choice");

    EXPECT_GT(examples.size(), 8U);
    for (const auto& [source, result] : examples) {
        auto condition = Condition::compile(value::parse_json(source).value(), Language::JsonPath);
        if (!condition) {
            EXPECT_EQ("refused", result) << source;
            continue;
        }
        auto verdict = condition->holds(scene_of(page).sight(), 0);
        auto outcome = verdict ? std::expected<Value, Failure>{Value{*verdict}}
                               : std::unexpected(verdict.error());
        EXPECT_EQ(testing::told(outcome), result) << source;
    }
}

} // namespace
} // namespace sluice::expr::states
