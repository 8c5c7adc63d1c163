#include "workflow/raw/finding.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "workflow/raw/internal/limits.h"
#include "workflow/raw/parse.h"

namespace sluice::workflow::raw {

std::vector<Finding> locate(const Document& document, std::vector<trigger::Problem> problems) {
    auto findings = std::vector<Finding>{};
    for (auto& problem : problems) {
        auto located = document.positions.locate(document.form, problem.path);
        findings.push_back({.file = document.file,
                            .line = located.place.line,
                            .column = located.place.column,
                            .path = std::move(located.path),
                            .message = std::move(problem.message)});
        if (findings.size() == internal::findings_max) {
            break;
        }
    }
    std::ranges::sort(findings, {}, [](const Finding& finding) {
        return std::tie(finding.line, finding.column, finding.path, finding.message);
    });
    return findings;
}

std::string to_text(const Finding& finding) {
    auto where = fmt::format("{}:{}:{}: ", finding.file, finding.line, finding.column);
    auto message = (finding.is_warning ? "warning: " : "") + finding.message;
    return finding.path.empty() ? where + message
                                : fmt::format("{}{}: {}", where, finding.path, message);
}

} // namespace sluice::workflow::raw
