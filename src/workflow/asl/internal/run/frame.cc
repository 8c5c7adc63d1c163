#include "workflow/asl/internal/run/frame.h"

namespace sluice::workflow::asl::internal::run {

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
