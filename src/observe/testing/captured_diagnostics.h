#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "observe/diagnostics.h"

namespace sluice::observe::testing {

/// Keeps every diagnostic as `warn: message name=value name=value`.
class CapturedDiagnostics final : public Diagnostics {
public:
    CapturedDiagnostics() : Diagnostics(Level::Debug) {}

    std::vector<std::string> lines() const;

private:
    void write(Level level, std::string_view message, std::span<const Field> fields) override;

    mutable std::mutex mutex_;
    std::vector<std::string> lines_;
};

} // namespace sluice::observe::testing
