#include "workflow/asl/internal/read/field_rules.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>

namespace sluice::workflow::asl::internal {

namespace {

using Kinds = std::uint16_t;

constexpr Kinds bit_of(Kind kind) {
    return static_cast<Kinds>(1U << static_cast<unsigned>(kind));
}

constexpr auto in_pass = bit_of(Kind::Pass);
constexpr auto in_choice = bit_of(Kind::Choice);
constexpr auto in_wait = bit_of(Kind::Wait);
constexpr auto in_succeed = bit_of(Kind::Succeed);
constexpr auto in_fail = bit_of(Kind::Fail);
constexpr auto in_task = bit_of(Kind::Task);
constexpr auto in_parallel = bit_of(Kind::Parallel);
constexpr auto in_map = bit_of(Kind::Map);
constexpr auto in_working = static_cast<Kinds>(in_task | in_parallel | in_map);
constexpr auto in_going_on = static_cast<Kinds>(in_working | in_pass | in_wait);
constexpr auto in_output = static_cast<Kinds>(in_going_on | in_choice | in_succeed);
constexpr auto in_all = static_cast<Kinds>(in_output | in_fail);

enum class Where : std::uint8_t { Both, JsonPathOnly, JsonataOnly };

struct FieldRule {
    std::string_view name;
    Kinds kinds = 0;
    Where where = Where::Both;
};

constexpr auto field_table = std::to_array<FieldRule>({
    {"Type", in_all},
    {"Comment", in_all},
    {"QueryLanguage", in_all},
    {"Next", in_going_on},
    {"End", in_going_on},
    {"InputPath", in_output, Where::JsonPathOnly},
    {"OutputPath", in_output, Where::JsonPathOnly},
    {"Parameters", static_cast<Kinds>(in_working | in_pass), Where::JsonPathOnly},
    {"ResultSelector", in_working, Where::JsonPathOnly},
    {"ResultPath", static_cast<Kinds>(in_working | in_pass), Where::JsonPathOnly},
    {"Arguments", static_cast<Kinds>(in_task | in_parallel), Where::JsonataOnly},
    {"Output", in_output, Where::JsonataOnly},
    {"Assign", static_cast<Kinds>(in_going_on | in_choice)},
    {"Retry", in_working},
    {"Catch", in_working},
    {"Result", in_pass, Where::JsonPathOnly},
    {"Choices", in_choice},
    {"Default", in_choice},
    {"Seconds", in_wait},
    {"Timestamp", in_wait},
    {"SecondsPath", in_wait, Where::JsonPathOnly},
    {"TimestampPath", in_wait, Where::JsonPathOnly},
    {"Error", in_fail},
    {"Cause", in_fail},
    {"ErrorPath", in_fail, Where::JsonPathOnly},
    {"CausePath", in_fail, Where::JsonPathOnly},
    {"Resource", in_task},
    {"Credentials", in_task},
    {"TimeoutSeconds", in_task},
    {"HeartbeatSeconds", in_task},
    {"TimeoutSecondsPath", in_task, Where::JsonPathOnly},
    {"HeartbeatSecondsPath", in_task, Where::JsonPathOnly},
    {"Branches", in_parallel},
    {"ItemProcessor", in_map},
    {"Iterator", in_map},
    {"ItemsPath", in_map, Where::JsonPathOnly},
    {"Items", in_map, Where::JsonataOnly},
    {"ItemSelector", in_map},
    {"ItemReader", in_map},
    {"ItemBatcher", in_map},
    {"ResultWriter", in_map},
    {"Label", in_map},
    {"MaxConcurrency", in_map},
    {"ToleratedFailureCount", in_map},
    {"ToleratedFailurePercentage", in_map},
    {"MaxConcurrencyPath", in_map, Where::JsonPathOnly},
    {"ToleratedFailureCountPath", in_map, Where::JsonPathOnly},
    {"ToleratedFailurePercentagePath", in_map, Where::JsonPathOnly},
});

struct NamedKind {
    std::string_view name;
    Kind kind;
};

constexpr auto kind_table = std::to_array<NamedKind>({
    {"Pass", Kind::Pass},
    {"Choice", Kind::Choice},
    {"Wait", Kind::Wait},
    {"Succeed", Kind::Succeed},
    {"Fail", Kind::Fail},
    {"Task", Kind::Task},
    {"Parallel", Kind::Parallel},
    {"Map", Kind::Map},
});

bool is_offered(Where where, Language language) {
    return where == Where::Both ||
           (where == Where::JsonPathOnly) == (language == Language::JsonPath);
}

std::string_view word_for(Kind kind) {
    return std::ranges::find(kind_table, kind, &NamedKind::kind)->name;
}

} // namespace

std::optional<Kind> kind_named(std::string_view name) {
    const auto* found = std::ranges::find(kind_table, name, &NamedKind::name);
    return found == kind_table.end() ? std::nullopt : std::optional{found->kind};
}

void check_fields(const Object& state, Kind kind, Language language) {
    for (const auto& [key, value] : state.form().as_map()) {
        const auto* rule = std::ranges::find(field_table, key, &FieldRule::name);
        if (rule == field_table.end()) {
            state.refuse(key, fmt::format("The field '{}' is not known", key));
        } else if ((rule->kinds & bit_of(kind)) == 0) {
            state.refuse(key, fmt::format("The field '{}' is not supported in a {} state", key,
                                          word_for(kind)));
        } else if (!is_offered(rule->where, language)) {
            state.refuse(key, fmt::format("The field '{}' is not supported in a state in {}", key,
                                          language == Language::JsonPath ? "JSONPath" : "JSONata"));
        }
    }
}

} // namespace sluice::workflow::asl::internal
