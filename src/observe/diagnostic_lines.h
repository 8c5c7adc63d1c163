#pragma once

#include <mutex>

#include <unistd.h>

#include "base/clock.h"
#include "observe/diagnostics.h"

namespace sluice::observe {

enum class Format : std::uint8_t { Text, Json };

/// Diagnostics as lines of a file, each written at once.
///
/// The clock must outlive it; the descriptor is borrowed. A line that cannot be written is lost.
class DiagnosticLines final : public Diagnostics {
public:
    DiagnosticLines(const Clock& clock, Format format, Level least = Level::Info,
                    int descriptor = STDERR_FILENO);

private:
    void write(Level level, std::string_view message, std::span<const Field> fields) override;

    const Clock& clock_;
    const Format format_;
    const int descriptor_;
    std::mutex mutex_;
};

} // namespace sluice::observe
