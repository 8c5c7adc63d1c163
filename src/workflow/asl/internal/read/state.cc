#include <utility>

#include <fmt/format.h>

#include "workflow/asl/internal/read/field_rules.h"
#include "workflow/asl/internal/read/fields.h"
#include "workflow/asl/internal/read/payload_check.h"
#include "workflow/asl/internal/read/reading.h"

namespace sluice::workflow::asl::internal {

namespace {

bool may_go_on(Kind kind) {
    return kind != Kind::Choice && kind != Kind::Succeed && kind != Kind::Fail;
}

bool is_working(Kind kind) {
    return kind == Kind::Task || kind == Kind::Parallel || kind == Kind::Map;
}

void read_language(StateSite& site) {
    auto whole = site.reading.machine.language;
    site.state.language = whole;
    auto word = site.object.word("QueryLanguage", {"JSONPath", "JSONata"});
    if (!word) {
        return;
    }
    site.state.language = *word == "JSONata" ? Language::Jsonata : Language::JsonPath;
    if (whole != Language::Jsonata || site.state.language == Language::Jsonata) {
        return;
    }
    constexpr auto message =
        "'QueryLanguage' can not be 'JSONPath' if set to 'JSONata' for whole "
        "state machine";
    if (site.state.flow == 0) {
        site.object.refuse_all(message);
    } else {
        site.reading.report.warn(site.object.pointer(), message, code::mixed_language);
    }
}

void read_next(StateSite& site) {
    const auto& object = site.object;
    if (!object.has("Next") && !object.has("End")) {
        object.refuse_all("One of these fields is required: [Next, End]");
        return;
    }
    if (!object.allow_one_of({"Next", "End"})) {
        return;
    }
    if (object.flag("End") == false) {
        object.refuse("End", "The field 'End' must be true; a state that goes on has 'Next'");
    }
    site.state.next = read_target(site, object, "Next");
}

void read_paths(StateSite& site) {
    auto& state = site.state;
    const auto& object = site.object;
    auto inside = TemplateSite{.language = Language::JsonPath};
    state.input_path = read_path(object, "InputPath");
    state.output_path = read_path(object, "OutputPath");
    state.result_path = read_result_path(object);
    if (state.kind != Kind::Map) {
        state.parameters = read_template(object, "Parameters", inside);
    }
    state.result_selector = read_object_template(object, "ResultSelector", inside);
    if (const auto* result = object.find("Result")) {
        state.result = *result;
        warn_of_static_result(*result, object.at("Result"), object.report());
    }
}

void read_data_flow(StateSite& site) {
    auto& state = site.state;
    auto after = TemplateSite{.language = state.language, .has_result = is_working(state.kind)};
    state.assign = read_assign(site.object, after);
    if (state.language == Language::JsonPath) {
        read_paths(site);
        return;
    }
    state.parameters = read_object_template(site.object, "Arguments", {.language = state.language});
    state.output = read_template(site.object, "Output", after);
}

void read_details(StateSite& site) {
    switch (site.state.kind) {
        case Kind::Choice: site.state.details = read_choice(site); break;
        case Kind::Wait: site.state.details = read_wait(site); break;
        case Kind::Fail: site.state.details = read_fail(site); break;
        case Kind::Task: site.state.details = read_task(site); break;
        case Kind::Parallel: site.state.details = read_parallel(site); break;
        case Kind::Map: site.state.details = read_map(site); break;
        case Kind::Pass:
        case Kind::Succeed: break;
    }
}

} // namespace

std::optional<StateNumber> read_target(StateSite& site, const Object& from, std::string_view name) {
    auto text = from.text(name);
    if (!text) {
        return std::nullopt;
    }
    if (auto found = site.targets.find(std::string{*text}); found != site.targets.end()) {
        return found->second;
    }
    if (!site.is_alone) {
        from.refuse(name, fmt::format("Missing '{}' target: {}", name, *text), code::no_target);
        return std::nullopt;
    }
    auto number = site.reading.add_state(*text, from.at(name), site.state.flow);
    site.reading.machine.states.back().kind = Kind::Succeed;
    site.targets.emplace(*text, number);
    return number;
}

void read_state(StateSite& site) {
    site.object.require({"Type"});
    auto type = site.object.text("Type");
    auto kind = type ? kind_named(*type) : std::nullopt;
    if (!kind) {
        if (type) {
            site.object.refuse("Type", fmt::format("The 'Type' of a state must be one of [Task, "
                                                   "Pass, Choice, Wait, Succeed, Fail, Parallel, "
                                                   "Map] but is '{}'",
                                                   *type));
        }
        return;
    }
    site.state.kind = *kind;
    site.object.text("Comment");
    read_language(site);
    check_fields(site.object, *kind, site.language());
    if (may_go_on(*kind)) {
        read_next(site);
    }
    read_data_flow(site);
    if (is_working(*kind)) {
        read_retry(site);
        read_catch(site);
    }
    read_details(site);
}

} // namespace sluice::workflow::asl::internal
