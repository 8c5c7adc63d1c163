#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace sluice::cli {

/// A time, or a duration before now, as a time; empty stays empty. Fails naming the option.
Result<std::string> read_time_bound(std::string_view option, const std::string& text);

/// As people read them: to the millisecond.
std::string time_text(Time time);
std::string duration_text(Nanos duration);

} // namespace sluice::cli
