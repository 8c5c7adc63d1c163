#include "cli/internal/time_bound.h"

#include "value/time_text.h"

namespace sluice::cli {

Result<std::string> read_time_bound(std::string_view option, const std::string& text) {
    if (text.empty() || value::parse_time(text)) {
        return text;
    }
    if (auto ago = value::parse_duration(text)) {
        return value::format_time(SystemClock{}.wall() - *ago);
    }
    return fail(Errc::InvalidInput,
                "{} {}: expected a time such as 2026-11-15T05:57:30Z, or a duration before now "
                "such as 2h",
                option, text);
}

std::string time_text(Time time) {
    return value::format_time(std::chrono::floor<std::chrono::milliseconds>(time));
}

std::string duration_text(Nanos duration) {
    return value::format_duration(std::chrono::floor<std::chrono::milliseconds>(duration));
}

} // namespace sluice::cli
