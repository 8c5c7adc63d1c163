#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/invariant.h"
#include "expr/states/choice.h"
#include "expr/states/selector.h"
#include "expr/states/template.h"
#include "expr/states/testing/scene.h"
#include "expr/states/timestamp.h"
#include "value/json.h"

namespace {

namespace states = sluice::expr::states;

void try_selectors(std::string_view text, const states::Sight& sight) {
    using Kind = states::Selector::Kind;
    for (auto kind : {Kind::Path, Kind::Reference, Kind::PathOrFunction}) {
        if (auto selector = states::Selector::compile(text, kind)) {
            auto first = selector->read(sight);
            INVARIANT(first == selector->read(sight), "the same sight gives the same value");
            INVARIANT(first.has_value() == selector->find(sight).has_value(), "both find it");
        }
    }
}

void try_form(const sluice::Value& form, const states::Sight& sight) {
    for (auto language : {states::Language::JsonPath, states::Language::Jsonata}) {
        if (auto made = states::Template::compile(form, {.language = language})) {
            auto value = made->evaluate(sight, "Output");
            INVARIANT(value == made->evaluate(sight, "Output"),
                      "the same sight gives the same value");
            INVARIANT(!made->is_constant() || value == form, "a constant is its form");
        }
        if (auto condition = states::Condition::compile(form, language)) {
            auto verdict = condition->holds(sight, 0);
            INVARIANT(verdict || verdict.error().error, "a failure has a name");
        }
    }
}

} // namespace

// A path or function as it is; as JSON, a template and a rule of a choice.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    static const auto scene = states::testing::Scene{
        R"({"a": {"b": [1, "x", {"c": null}]}, "t": "2026-11-15T00:00:00Z", "s": "text", "n": 2.5})",
        R"({"Execution": {"Input": {"a": 1}}})", R"({"v": [1, 2], "a": "b"})"};
    auto text = std::string_view{reinterpret_cast<const char*>(bytes), size};
    states::parse_timestamp(text);
    try_selectors(text, scene.sight());
    if (auto form = sluice::value::parse_json(text)) {
        try_form(*form, scene.sight());
    }
    return 0;
}
