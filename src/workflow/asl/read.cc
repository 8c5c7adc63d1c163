#include "workflow/asl/read.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "workflow/asl/internal/read/reading.h"

namespace sluice::workflow::asl {

namespace {

using internal::Object;
using internal::Reading;

void read_machine_fields(Reading& reading, const Object& object) {
    auto& machine = reading.machine;
    object.allow_only(
        {"Comment", "QueryLanguage", "StartAt", "States", "TimeoutSeconds", "Version"});
    machine.comment = object.text("Comment").value_or("");
    object.word("Version", {"1.0"});
    auto language = object.word("QueryLanguage", {"JSONPath", "JSONata"});
    machine.language = language == "JSONata" ? Language::Jsonata : Language::JsonPath;
    if (auto seconds = object.whole("TimeoutSeconds", {.min = 0})) {
        machine.timeout_seconds = static_cast<std::uint64_t>(*seconds);
    }
}

void read_flows(Reading& reading) {
    for (auto flow = FlowNumber{0}; flow < reading.forms.size(); ++flow) {
        internal::read_flow(reading, flow);
    }
}

void read_machine(Reading& reading, const Value& form) {
    read_machine_fields(reading, {form, "", reading.report});
    reading.add_flow({.form = &form, .is_express = reading.options.is_express}, std::nullopt);
    read_flows(reading);
}

/// A machine of one state, and of one more for each that it goes to.
void read_single(Reading& reading, const Value& form) {
    reading.add_flow({.form = &form, .is_express = reading.options.is_express}, std::nullopt);
    reading.add_state("", "", 0);
    auto targets = internal::Targets{};
    auto state = State{};
    auto site = internal::StateSite{.reading = reading,
                                    .object = Object{form, "", reading.report},
                                    .targets = targets,
                                    .state = state,
                                    .is_express = reading.options.is_express,
                                    .is_alone = true};
    internal::read_state(site);
    reading.machine.states[0] = std::move(state);
    for (auto flow = FlowNumber{1}; flow < reading.forms.size(); ++flow) {
        internal::read_flow(reading, flow);
    }
}

Reading read_all(const Value& form, const ReadOptions& options) {
    auto reading = Reading{.options = options};
    if (!form.is_map()) {
        reading.report.add(
            "", fmt::format("A definition must be an object but is {}", internal::kind_of(form)));
        return reading;
    }
    if (options.is_single_state) {
        read_single(reading, form);
    } else {
        read_machine(reading, form);
    }
    internal::check_variables(reading);
    return reading;
}

} // namespace

std::expected<std::shared_ptr<const Machine>, std::vector<Diagnostic>> read(
    const Value& form, const ReadOptions& options) {
    auto reading = read_all(form, options);
    if (reading.report.size() != 0) {
        return std::unexpected(reading.report.take_errors());
    }
    return std::make_shared<const Machine>(std::move(reading.machine));
}

std::vector<Diagnostic> diagnose(const Value& form, const ReadOptions& options) {
    auto reading = read_all(form, options);
    auto diagnostics = reading.report.take_errors();
    std::ranges::move(reading.report.take_warnings(), std::back_inserter(diagnostics));
    return diagnostics;
}

std::vector<Diagnostic> warnings(const Value& form, const ReadOptions& options) {
    return read_all(form, options).report.take_warnings();
}

} // namespace sluice::workflow::asl
