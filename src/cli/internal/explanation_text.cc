#include "cli/internal/explanation_text.h"

#include <fmt/format.h>

#include "cli/internal/run_summary.h"
#include "cli/output.h"

namespace sluice::cli {

namespace {

std::span<const Value> list_at(const Value& map, std::string_view key) {
    const auto* found = map.find(key);
    return found != nullptr && found->is_list() ? found->as_list() : std::span<const Value>{};
}

void print_step(const Value& step) {
    auto subject = text_at(step, "subject");
    auto scope = text_at(step, "scope");
    auto why = text_at(step, "why");
    print("event #{}  {}{}{}  id {}  {}", text_at(step, "event"), text_at(step, "type"),
          subject.empty() ? "" : " of " + subject, scope.empty() ? "" : " in " + scope,
          text_at(step, "id"), text_at(step, "time"));
    print("  {}.", text_at(step, "came"));
    print("  fate: {}{}", text_at(step, "fate"), why.empty() ? "" : ": " + why);
    for (const auto& sentence : list_at(step, "then")) {
        print("  - {}", sentence.as_string());
    }
}

void print_running(const Value& explanation) {
    print("run {} is running after {} events and waits:", text_at(explanation, "run"),
          text_at(explanation, "events"));
    for (const auto& line : list_at(explanation, "waits")) {
        print("  - {}", line.as_string());
    }
    const auto* before = explanation.find("generation_before_ended_by");
    if (before != nullptr && before->is_map()) {
        print("It is in its generation {}. The one before ended with this event:",
              text_at(explanation, "generation"));
        print_step(*before);
    }
}

void print_ended(const Value& explanation) {
    const auto* error = explanation.find("error");
    print("run {} {}{}", text_at(explanation, "run"), text_at(explanation, "status"),
          error == nullptr || error->is_null() ? "" : ": " + describe_error(*error));
    const auto* by = explanation.find("ended_by");
    if (by != nullptr && by->is_map()) {
        print("It ended with this event:");
        print_step(*by);
    }
}

void print_trigger(const Value& explanation) {
    for (const auto& state : list_at(explanation, "states")) {
        print("{}", waiting_text(state));
    }
    print("activated {} times", text_at(explanation, "activations"));
    for (const auto& step : list_at(explanation, "steps")) {
        print_step(step);
    }
}

} // namespace

void print_explanation(const Value& explanation) {
    if (explanation.find("activations") != nullptr) {
        print_trigger(explanation);
    } else if (explanation.find("steps") != nullptr) {
        for (const auto& step : list_at(explanation, "steps")) {
            print_step(step);
        }
    } else if (explanation.find("waits") != nullptr) {
        print_running(explanation);
    } else {
        print_ended(explanation);
    }
}

} // namespace sluice::cli
