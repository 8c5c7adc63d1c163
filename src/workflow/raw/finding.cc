#include "workflow/raw/finding.h"

#include <fmt/format.h>

namespace sluice::workflow::raw {

std::string to_text(const Finding& finding) {
    auto where = fmt::format("{}:{}:{}: ", finding.file, finding.line, finding.column);
    return finding.path.empty() ? where + finding.message
                                : fmt::format("{}{}: {}", where, finding.path, finding.message);
}

} // namespace sluice::workflow::raw
