#include <utility>

#include <fmt/format.h>

#include "expr/states/timestamp.h"
#include "workflow/asl/internal/read/fields.h"
#include "workflow/asl/internal/read/reading.h"

namespace sluice::workflow::asl::internal {

namespace {

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
    if (!expr::states::parse_timestamp(*text)) {
        object.refuse("Timestamp", "String does not match RFC3339 timestamp");
    }
    wait.timestamp = std::string{*text};
}

} // namespace

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
