#include "workflow/asl/internal/run/visit.h"

#include <utility>

namespace sluice::workflow::asl::internal::run {

std::uint64_t count_at(const Value& map, std::string_view name) {
    const auto* found = map.find(name);
    return found == nullptr ? 0 : static_cast<std::uint64_t>(found->as_int());
}

std::optional<std::string> text_in(const Value& map, std::string_view name) {
    const auto* found = map.find(name);
    return found != nullptr && found->is_string() ? std::optional{std::string{found->as_string()}}
                                                  : std::nullopt;
}

Value as_value(std::uint64_t count) {
    return Value{static_cast<std::int64_t>(count)};
}

Value Visit::to_memory(std::string_view status) const {
    auto members =
        std::vector<value::Member>{{"status", Value{status}},      {"input", input},
                                   {"entered", as_value(entered)}, {"before", as_value(before)},
                                   {"last", as_value(frame.last)}, {"at", Value{at}}};
    auto add = [&](const char* name, std::uint64_t count) {
        if (count > 0) {
            members.push_back({name, as_value(count)});
        }
    };
    if (!tries.empty()) {
        auto counts = std::vector<Value>{};
        for (auto count : tries) {
            counts.push_back(as_value(count));
        }
        members.push_back({"tries", Value::list(std::move(counts))});
    }
    add("retries", retries);
    add("timer", timer);
    add("pulse", pulse);
    add("heartbeat", seconds);
    if (!token.empty()) {
        members.push_back({"token", token});
    }
    if (is_begun) {
        members.push_back({"begun", true});
    }
    if (!nested.is_null()) {
        members.push_back({"nested", nested});
    }
    return Value::map(std::move(members));
}

void Visit::restore(const Value& memory) {
    is_stored = true;
    input = *memory.find("input");
    entered = count_at(memory, "entered");
    before = count_at(memory, "before");
    frame.last = count_at(memory, "last");
    at = memory.find("at")->as_timestamp();
    if (const auto* counts = memory.find("tries")) {
        for (const auto& count : counts->as_list()) {
            tries.push_back(static_cast<std::uint32_t>(count.as_int()));
        }
    }
    retries = static_cast<std::uint32_t>(count_at(memory, "retries"));
    timer = count_at(memory, "timer");
    pulse = count_at(memory, "pulse");
    seconds = count_at(memory, "heartbeat");
    is_begun = memory.find("begun") != nullptr;
    if (const auto* text = memory.find("token")) {
        token = std::string{text->as_string()};
    }
    if (const auto* execution = memory.find("nested")) {
        nested = *execution;
    }
}

} // namespace sluice::workflow::asl::internal::run
