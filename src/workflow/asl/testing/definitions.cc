#include "workflow/asl/testing/definitions.h"

#include <fmt/format.h>

#include "base/invariant.h"
#include "value/json.h"
#include "workflow/asl/check.h"
#include "workflow/asl/read.h"

namespace sluice::workflow::asl::testing {

Value form_of(std::string_view text) {
    auto form = value::parse_json(text, {.depth_max = depth_max});
    INVARIANT(form.has_value(), "a test's definition is JSON");
    return *form;
}

std::string definition_with(std::string_view state) {
    auto other = state.contains(R"("Next")") || state.contains(R"("Default")")
                     ? R"(, "Next": {"Type": "Succeed"})"
                     : "";
    return fmt::format(R"({{"StartAt": "S", "States": {{"S": {}{}}}}})", state, other);
}

std::shared_ptr<const Machine> machine_of(std::string_view text) {
    auto machine = read(form_of(text));
    if (!machine) {
        fmt::print("{}\n{}\n", text, problems_of(text));
    }
    INVARIANT(machine.has_value(), "a test's definition is valid");
    return *machine;
}

std::shared_ptr<const Machine> machine_with(std::string_view state) {
    return machine_of(definition_with(state));
}

std::string problems_of(std::string_view text) {
    auto machine = read(form_of(text));
    auto lines = std::string{};
    if (!machine) {
        for (const auto& problem : machine.error()) {
            lines += fmt::format("{}{} at {}", lines.empty() ? "" : "\n", problem.code,
                                 problem.location);
        }
    }
    return lines;
}

} // namespace sluice::workflow::asl::testing
