#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "value/json.h"
#include "workflow/asl/check.h"
#include "workflow/asl/parse.h"
#include "workflow/asl/read.h"

namespace sluice::workflow::asl {
namespace {

struct DocumentedDefinition {
    std::string text;
    std::string told; ///< The line behind it.
};

std::vector<DocumentedDefinition> definitions_in(const std::string& page) {
    auto file =
        std::ifstream{std::string{PROJECT_FOLDER "/docs/reference/states-language/"} + page};
    auto found = std::vector<DocumentedDefinition>{};
    auto is_inside = false;
    auto is_awaited = false;
    for (auto line = std::string{}; std::getline(file, line);) {
        if (line == "```json") {
            found.emplace_back();
            is_inside = true;
        } else if (is_inside && line == "```") {
            is_inside = false;
            is_awaited = true;
        } else if (is_inside) {
            found.back().text += line + "\n";
        } else if (is_awaited && !line.empty()) {
            found.back().told = line;
            is_awaited = false;
        }
    }
    return found;
}

std::string told_of(const Diagnostic& diagnostic) {
    return diagnostic.code == "INVALID_JSON_DESCRIPTION"
               ? "`INVALID_JSON_DESCRIPTION`"
               : fmt::format("`{}` at `{}`: {}", diagnostic.code, diagnostic.location,
                             diagnostic.message);
}

/// Everything that is said of a definition, errors and warnings, on lines of their own.
std::string all_told(const std::string& text) {
    auto form = parse(text);
    if (!form) {
        return told_of(form.error());
    }
    auto lines = std::vector<std::string>{};
    std::ranges::transform(diagnose(*form), std::back_inserter(lines), told_of);
    return fmt::format("{}", fmt::join(lines, "\n"));
}

TEST(AslReference, TellsTheTruthAboutWhatIsRefused) {
    auto definitions = definitions_in("validation.md");

    EXPECT_GE(definitions.size(), 15U);
    for (const auto& [text, told] : definitions) {
        EXPECT_EQ(all_told(text), told) << text;
    }
}

TEST(AslReference, ShowsDefinitionsThatAreRight) {
    auto definitions = definitions_in("definition.md");

    EXPECT_GE(definitions.size(), 7U);
    for (const auto& [text, told] : definitions) {
        auto form = parse(text);
        ASSERT_TRUE(form) << text;
        auto machine = read(*form, {.is_single_state = !resembles_machine(*form)});
        EXPECT_TRUE(machine) << text << (machine ? "" : machine.error()[0].message);
    }
}

} // namespace
} // namespace sluice::workflow::asl
