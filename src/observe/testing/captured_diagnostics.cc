#include "observe/testing/captured_diagnostics.h"

#include <utility>

namespace sluice::observe::testing {

std::vector<std::string> CapturedDiagnostics::lines() const {
    auto lock = std::lock_guard{mutex_};
    return lines_;
}

void CapturedDiagnostics::write(Level level, std::string_view message,
                                std::span<const Field> fields) {
    auto line = fmt::format("{}: {}", to_string(level), message);
    for (const auto& field : fields) {
        line += fmt::format(" {}={}", field.name, field.value);
    }
    auto lock = std::lock_guard{mutex_};
    lines_.push_back(std::move(line));
}

} // namespace sluice::observe::testing
