#include "workflow/asl/check.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

namespace sluice::workflow::asl {

namespace {

/// `/States/a~1b/Next` as Positions has it: `States/a/b/Next`.
std::string path_of(std::string_view pointer) {
    auto path = std::string{};
    for (auto at = std::size_t{1}; at < pointer.size(); ++at) {
        if (pointer[at] != '~' || at + 1 == pointer.size()) {
            path += pointer[at];
            continue;
        }
        path += pointer[++at] == '1' ? '/' : '~';
    }
    return path;
}

raw::Finding finding_of(const raw::Document& document, Diagnostic diagnostic) {
    auto located = document.positions.locate(document.form, path_of(diagnostic.location));
    return {.file = document.file,
            .line = located.place.line,
            .column = located.place.column,
            .path = std::move(located.path),
            .message = std::move(diagnostic.message),
            .code = std::move(diagnostic.code),
            .location = std::move(diagnostic.location),
            .is_warning = diagnostic.severity == Diagnostic::Severity::Warning};
}

} // namespace

bool resembles_machine(const Value& form) {
    return form.find("StartAt") != nullptr || form.find("States") != nullptr;
}

bool is_machine_file(std::string_view file) {
    return file.ends_with(".asl.json") || file.ends_with(".asl.yaml") || file.ends_with(".asl.yml");
}

bool may_be_machine(std::string_view text, std::string_view file) {
    return is_machine_file(file) || (text.contains("StartAt") && text.contains("States"));
}

std::vector<raw::Finding> check(const raw::Document& document, const ReadOptions& options) {
    auto findings = std::vector<raw::Finding>{};
    for (auto& diagnostic : diagnose(document.form, options)) {
        findings.push_back(finding_of(document, std::move(diagnostic)));
    }
    std::ranges::stable_sort(findings, {}, [](const raw::Finding& finding) {
        return std::tie(finding.is_warning, finding.line, finding.column);
    });
    return findings;
}

} // namespace sluice::workflow::asl
