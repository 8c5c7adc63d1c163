#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "workflow/asl/internal/read/fields.h"
#include "workflow/asl/internal/read/payload_check.h"
#include "workflow/asl/internal/read/reading.h"

namespace sluice::workflow::asl::internal {

namespace {

using Members = std::span<const value::Member>;

/// Amazon States Language, "Choice State": only the outer rule says where to go.
void check_inner_rules(const Object& rule) {
    auto open = std::vector<std::pair<const Value*, std::string>>{{&rule.form(), rule.pointer()}};
    while (!open.empty()) {
        auto [form, place] = std::move(open.back());
        open.pop_back();
        for (auto name : {"Next", "Assign", "Output"}) {
            if (form != &rule.form() && form->find(name) != nullptr) {
                rule.report().add(
                    join(place, name),
                    fmt::format("The field '{}' is only supported in the rule itself, "
                                "not inside And, Or or Not",
                                name));
            }
        }
        for (const auto& [key, member] : form->is_map() ? form->as_map() : Members{}) {
            auto inner = join(place, key);
            if (key == "Not") {
                open.emplace_back(&member, inner);
            } else if ((key == "And" || key == "Or") && member.is_list()) {
                auto index = std::size_t{0};
                for (const auto& item : member.as_list()) {
                    open.emplace_back(&item, join(inner, index++));
                }
            }
        }
    }
}

void check_rule_fields(const Object& rule, Language language) {
    if (language == Language::Jsonata) {
        rule.allow_only({"Condition", "Next", "Output", "Assign", "Comment"});
        rule.require({"Condition", "Next"});
        return;
    }
    for (auto name : {"Condition", "Output"}) {
        if (rule.has(name)) {
            rule.refuse(name, fmt::format("The field '{}' is only supported in JSONata", name));
        }
    }
    rule.require({"Next"});
    check_inner_rules(rule);
}

std::optional<ChoiceRule> read_rule(StateSite& site, const Object& rule) {
    auto language = site.language();
    auto count = rule.report().size();
    check_rule_fields(rule, language);
    auto next = read_target(site, rule, "Next");
    auto inside = TemplateSite{.language = language};
    auto output = language == Language::Jsonata ? read_template(rule, "Output", inside)
                                                : std::optional<Template>{};
    auto assign = read_assign(rule, inside);
    auto condition = expr::states::Condition::compile(rule.form(), language);
    if (!condition) {
        for (const auto& problem : condition.error()) {
            // A condition that is missing has been reported already.
            if (rule.report().size() == count || !problem.pointer.empty()) {
                rule.report().add(rule.pointer() + problem.pointer, problem.message);
            }
        }
        return std::nullopt;
    }
    note_names(*condition, language == Language::Jsonata ? rule.at("Condition") : rule.pointer(),
               rule.report());
    return ChoiceRule{.condition = *std::move(condition),
                      .next = next.value_or(0),
                      .output = std::move(output),
                      .assign = std::move(assign)};
}

} // namespace

ChoiceState read_choice(StateSite& site) {
    auto choice = ChoiceState{};
    site.object.require({"Choices"});
    const auto* list = site.object.find("Choices");
    if (list != nullptr && list->is_list() && list->size() == 0) {
        site.object.refuse("Choices", "A Choice state must have at least one rule in 'Choices'");
    }
    site.object.each_object("Choices", [&](const Object& form, bool /*is_last*/) {
        if (auto rule = read_rule(site, form)) {
            choice.rules.push_back(*std::move(rule));
        }
    });
    choice.otherwise = read_target(site, site.object, "Default");
    return choice;
}

} // namespace sluice::workflow::asl::internal
