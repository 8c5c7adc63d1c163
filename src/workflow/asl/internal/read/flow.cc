#include <utility>

#include <fmt/format.h>

#include "base/utf8.h"
#include "workflow/asl/internal/read/reading.h"

namespace sluice::workflow::asl::internal {

namespace {

constexpr auto name_letters_max = std::size_t{80};

std::size_t letters_of(std::string_view text) {
    auto letters = std::size_t{0};
    for (auto at = std::size_t{0}; at < text.size(); ++letters) {
        at += std::max(decode_utf8(text.substr(at)).size, std::size_t{1});
    }
    return letters;
}

void check_name(Reading& reading, std::string_view name, const std::string& place) {
    auto letters = letters_of(name);
    if (letters == 0 || letters > name_letters_max) {
        reading.report.add(place,
                           fmt::format("The name of a state must have 1 to {} characters but '{}' "
                                       "has {}",
                                       name_letters_max, name, letters),
                           code::bad_name);
    }
}

/// Numbers the states of a flow before they are read, so that transitions may go to any of them.
Targets number_states(Reading& reading, const Object& states, FlowNumber flow) {
    auto targets = Targets{};
    for (const auto& [name, form] : states.form().as_map()) {
        auto place = states.at(name);
        check_name(reading, name, place);
        auto number = reading.add_state(name, place, flow);
        targets.emplace(name, number);
        if (!reading.machine.by_name.emplace(name, number).second) {
            reading.report.add(place, fmt::format("Duplicate State name: {}", name),
                               code::repeated_name);
        }
    }
    return targets;
}

void read_states(Reading& reading, const Object& states, FlowNumber flow, Targets& targets) {
    for (const auto& [name, form] : states.form().as_map()) {
        if (!form.is_map()) {
            states.refuse(name, wrong_kind(name, "an object", form));
            continue;
        }
        auto number = targets.at(name);
        auto state = State{.name = name, .flow = flow};
        auto site = StateSite{.reading = reading,
                              .object = Object{form, states.at(name), reading.report},
                              .targets = targets,
                              .state = state,
                              .number = number,
                              .is_express = reading.forms[flow].is_express};
        read_state(site);
        reading.machine.states[number] = std::move(state);
        reading.reads[number] = reading.report.take_reads();
    }
}

} // namespace

void read_flow(Reading& reading, FlowNumber flow) {
    auto object = Object{*reading.forms[flow].form, reading.forms[flow].pointer, reading.report};
    object.text("Comment");
    object.require({"StartAt", "States"});
    auto start = object.text("StartAt");
    auto states = object.object("States");
    if (!states) {
        return;
    }
    if (states->form().size() == 0) {
        states->refuse_all("There must be at least one state in 'States'");
        return;
    }
    auto targets = number_states(reading, *states, flow);
    read_states(reading, *states, flow, targets);
    if (!start) {
        return;
    }
    auto found = targets.find(std::string{*start});
    if (found == targets.end()) {
        object.refuse("StartAt", fmt::format("Missing 'StartAt' target: {}", *start),
                      code::no_target);
        return;
    }
    reading.machine.flows[flow].start = found->second;
    check_transitions(*states, *start);
}

} // namespace sluice::workflow::asl::internal
