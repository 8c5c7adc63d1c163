#include "workflow/asl/internal/read/report.h"

#include <utility>

#include <fmt/format.h>

#include "value/pointer.h"

namespace sluice::workflow::asl::internal {

namespace {

constexpr auto diagnostics_max = std::size_t{1000};

void keep(std::vector<Diagnostic>& list, Diagnostic diagnostic) {
    if (list.size() < diagnostics_max) {
        list.push_back(std::move(diagnostic));
    }
}

std::string location_of(std::string_view pointer) {
    return pointer.empty() ? "/" : std::string{pointer};
}

} // namespace

std::string join(std::string_view pointer, std::string_view key) {
    return value::join_pointer(pointer, key);
}

std::string join(std::string_view pointer, std::size_t index) {
    return fmt::format("{}/{}", pointer, index);
}

void Report::add(std::string_view pointer, std::string message, std::string_view name) {
    keep(errors_, {.severity = Diagnostic::Severity::Error,
                   .code = std::string{name},
                   .location = location_of(pointer),
                   .message = std::move(message)});
}

void Report::warn(std::string_view pointer, std::string message, std::string_view name) {
    keep(warnings_, {.severity = Diagnostic::Severity::Warning,
                     .code = std::string{name},
                     .location = location_of(pointer),
                     .message = std::move(message)});
}

void Report::note_reads(std::string_view pointer, const std::vector<std::string>& variables) {
    for (const auto& name : variables) {
        reads_.push_back({.name = name, .pointer = std::string{pointer}});
    }
}

} // namespace sluice::workflow::asl::internal
