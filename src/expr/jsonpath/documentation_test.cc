#include <string>

#include <gtest/gtest.h>

#include "expr/jsonpath/path.h"
#include "expr/testing/reference_page.h"
#include "value/json.h"

namespace sluice::expr::jsonpath {
namespace {

std::string answer(const std::string& text, const Value& document, Dialect dialect) {
    auto path = Path::compile(text, dialect);
    if (!path) {
        return "refused: " + path.error().message;
    }
    if (dialect == Dialect::Rfc9535) {
        auto values = path->select(document);
        return values ? value::to_json(Value::list(*values)) : "fault " + values.error().code;
    }
    auto read = path->read(document);
    return read ? value::to_json(*read) : "fault " + read.error().code;
}

void expect_true(std::string_view language, Dialect dialect, std::size_t count_min) {
    auto page = testing::ReferencePage{JSONPATH_DOCUMENT};
    auto document = page.sample();
    auto examples = page.examples(language);
    EXPECT_GE(examples.size(), count_min);
    for (const auto& [source, result] : examples) {
        EXPECT_EQ(answer(source, document, dialect), result) << source;
    }
}

TEST(JsonPathReference, TellsTheTruthAboutTheRfc) {
    expect_true("rfc9535", Dialect::Rfc9535, 20);
}

TEST(JsonPathReference, TellsTheTruthAboutJayway) {
    expect_true("jayway", Dialect::Jayway, 20);
}

} // namespace
} // namespace sluice::expr::jsonpath
