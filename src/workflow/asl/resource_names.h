#pragma once

#include <string>
#include <string_view>

namespace sluice::workflow::asl {

/// The function that stands for an activity: its tasks wait there for workers. Names of functions
/// that people make have no colon, so that nothing else has it.
inline std::string activity_function(std::string_view activity) {
    return "activity:" + std::string{activity};
}

} // namespace sluice::workflow::asl
