#include "workflow/asl/internal/run/frame.h"

#include <utility>
#include <vector>

#include "workflow/asl/internal/run/visit.h"

namespace sluice::workflow::asl::internal::run {

Value Tally::to_memory() const {
    auto members = std::vector<value::Member>{{"events", as_value(events)}};
    if (is_of_child) {
        members.push_back({"started", Value{started}});
    }
    if (redrives > 0) {
        members.push_back({"redrives", as_value(redrives)});
    }
    for (auto [name_there, kept] : {std::pair{"about", &about}, {"item", &item}}) {
        if (!kept->is_null()) {
            members.push_back({name_there, *kept});
        }
    }
    return Value::map(std::move(members));
}

Tally Tally::from_memory(const Value& memory) {
    auto tally = Tally{.events = count_at(memory, "events"),
                       .redrives = count_at(memory, "redrives"),
                       .about = {},
                       .item = {},
                       .failed_at = {}};
    if (const auto* began = memory.find("started")) {
        tally.started = began->as_timestamp();
    }
    for (auto [name_there, kept] : {std::pair{"about", &tally.about}, {"item", &tally.item}}) {
        if (const auto* found = memory.find(name_there)) {
            *kept = *found;
        }
    }
    return tally;
}

const Value* FrameVariables::find(std::string_view name) const {
    for (const auto* at = &frame_; at != nullptr; at = at->hides_outer ? nullptr : at->outer) {
        if (const auto* found = at->variables.find(name)) {
            return found;
        }
    }
    return nullptr;
}

Value FrameVariables::all() const {
    auto all = Value::map({});
    for (const auto* at = &frame_; at != nullptr; at = at->hides_outer ? nullptr : at->outer) {
        if (at->variables.is_map()) {
            for (const auto& [name, value] : at->variables.as_map()) {
                all = all.find(name) == nullptr ? all.with(name, value) : all;
            }
        }
    }
    return all;
}

} // namespace sluice::workflow::asl::internal::run
