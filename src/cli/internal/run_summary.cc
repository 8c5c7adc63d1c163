#include "cli/internal/run_summary.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "cli/internal/time_bound.h"
#include "cli/output.h"
#include "value/time_text.h"

namespace sluice::cli {

namespace {

const Value& member(const Value& map, std::string_view key) {
    static const auto none = Value{};
    const auto* found = map.find(key);
    return found == nullptr ? none : *found;
}

std::span<const Value> items(const Value& map, std::string_view key) {
    const auto& list = member(map, key);
    return list.is_list() ? list.as_list() : std::span<const Value>{};
}

std::string time_at(const Value& map, std::string_view key) {
    auto time = value::parse_time(text_at(map, key));
    return time ? time_text(*time) : text_at(map, key);
}

void print_list(std::string_view heading, const std::vector<std::string>& lines) {
    if (lines.empty()) {
        return;
    }
    print("{}", heading);
    for (const auto& line : lines) {
        print("  {}", line);
    }
}

void print_end(const Value& state) {
    if (member(state, "ended").is_null()) {
        return;
    }
    auto started = value::parse_time(text_at(state, "started"));
    auto ended = value::parse_time(text_at(state, "ended"));
    print("ended       {}, after {}", time_at(state, "ended"),
          started && ended ? duration_text(*ended - *started) : "");
}

void print_outcome(const Value& state) {
    print("input       {}", brief(member(state, "input"), 200));
    if (text_at(state, "status") == "succeeded") {
        print("result      {}", brief(member(state, "result"), 2'000));
    } else if (!member(state, "ended").is_null()) {
        print("error       {}", describe_error(member(state, "error")));
    }
    const auto& counts = member(state, "counts");
    print("counts      {} events, {} fired, {} duplicates", text_at(counts, "events"),
          text_at(counts, "fired"), text_at(counts, "duplicates"));
    if (!member(state, "ids_forgotten_before").is_null()) {
        print("duplicates  known exactly of events since {}",
              time_at(state, "ids_forgotten_before"));
    }
}

} // namespace

std::string waiting_text(const Value& trigger) {
    auto text = text_at(trigger, "trigger");
    if (auto scope = text_at(trigger, "scope"); !scope.empty()) {
        text += fmt::format(" in {}", scope);
    }
    if (auto status = text_at(trigger, "status"); !status.empty()) {
        auto told = text_at(trigger, "told");
        return fmt::format("{} is {}{}{}", text, status, told.empty() ? "" : ": ", told);
    }
    text += fmt::format(" waits for {}", text_at(trigger, "on"));
    if (auto condition = text_at(trigger, "condition"); !condition.empty()) {
        text += fmt::format(": {}, {} so far", condition, text_at(trigger, "progress"));
    }
    auto fired = text_at(trigger, "fired");
    if (!fired.empty() && fired != "0") {
        text += fmt::format("; fired {} time{}", fired, fired == "1" ? "" : "s");
    }
    return text;
}

void print_summary(const Value& state) {
    print("run         {}", text_at(state, "run"));
    print("definition  {}", text_at(state, "definition"));
    print("status      {}{}", text_at(state, "status"),
          member(state, "paused") == Value{true} ? ", paused" : "");
    if (auto generation = text_at(state, "generation"); generation != "1") {
        print("generation  {}", generation);
    }
    print("started     {}", time_at(state, "started"));
    print_end(state);
    print_outcome(state);
    auto lines = std::vector<std::string>{};
    if (member(state, "ended").is_null()) {
        std::ranges::transform(items(state, "waiting"), std::back_inserter(lines), waiting_text);
        print_list("waiting triggers", lines);
    }
    for (const auto& [heading, part] :
         {std::pair{"open tasks", "tasks"}, {"timers", "timers"}, {"kept events", "kept"}}) {
        lines.clear();
        std::ranges::transform(items(state, part), std::back_inserter(lines),
                               [](const Value& item) { return brief(item, 200); });
        print_list(heading, lines);
    }
}

} // namespace sluice::cli
