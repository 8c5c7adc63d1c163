#include <utility>

#include <fmt/format.h>

#include "workflow/asl/internal/fields.h"
#include "workflow/asl/internal/reading.h"
#include "workflow/asl/internal/timestamp.h"

namespace sluice::workflow::asl::internal {

namespace {

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
    return ChoiceRule{.condition = *std::move(condition),
                      .next = next.value_or(0),
                      .output = std::move(output),
                      .assign = std::move(assign)};
}

void read_timestamp(const Object& object, Language language, WaitState& wait) {
    if (object.has("TimestampPath")) {
        if (auto path = read_selector(object, "TimestampPath", Selector::Kind::Reference)) {
            wait.timestamp = *std::move(path);
        }
        return;
    }
    auto text = object.text("Timestamp");
    if (!text) {
        return;
    }
    if (language == Language::Jsonata && is_expression(*text)) {
        if (auto compiled = read_template(object, "Timestamp", {.language = language})) {
            wait.timestamp = *std::move(compiled);
        }
        return;
    }
    if (!is_timestamp(*text)) {
        object.refuse("Timestamp", "String does not match RFC3339 timestamp");
    }
    wait.timestamp = std::string{*text};
}

} // namespace

ChoiceState read_choice(StateSite& site) {
    auto choice = ChoiceState{};
    site.object.require({"Choices"});
    auto list = site.object.list("Choices");
    if (list && list->empty()) {
        site.object.refuse("Choices", "A Choice state must have at least one rule in 'Choices'");
    }
    auto index = std::size_t{0};
    for (const auto& item : list.value_or(std::span<const Value>{})) {
        auto place = join(site.object.at("Choices"), index++);
        if (!item.is_map()) {
            site.reading.report.add(place, fmt::format("A rule of a Choice state must be an object "
                                                       "but is {}",
                                                       kind_of(item)));
        } else if (auto rule = read_rule(site, {item, place, site.reading.report})) {
            choice.rules.push_back(*std::move(rule));
        }
    }
    choice.otherwise = read_target(site, site.object, "Default");
    return choice;
}

WaitState read_wait(StateSite& site) {
    const auto& object = site.object;
    if (!object.allow_one_of({"Seconds", "SecondsPath", "Timestamp", "TimestampPath"})) {
        return {};
    }
    auto has_path = site.language() == Language::JsonPath;
    if (!object.has("Seconds") && !object.has("Timestamp") &&
        !(has_path && (object.has("SecondsPath") || object.has("TimestampPath")))) {
        object.refuse_all(has_path ? "One of these fields is required: [Seconds, SecondsPath, "
                                     "Timestamp, TimestampPath]"
                                   : "One of these fields is required: [Seconds, Timestamp]");
    }
    auto wait = WaitState{.seconds = read_number(object, site.language(),
                                                 {.name = "Seconds", .path_name = "SecondsPath"})};
    read_timestamp(object, site.language(), wait);
    return wait;
}

FailState read_fail(StateSite& site) {
    return {.error = read_fail_text(site.object, site.language(), "Error", "ErrorPath"),
            .cause = read_fail_text(site.object, site.language(), "Cause", "CausePath")};
}

} // namespace sluice::workflow::asl::internal
