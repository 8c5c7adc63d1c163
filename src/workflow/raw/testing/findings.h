#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "workflow/raw/check.h"
#include "workflow/raw/parse.h"

namespace sluice::workflow::raw {

/// What a failing test shows of a finding.
inline void PrintTo(const Finding& finding, // NOLINT(readability-identifier-naming)
                    std::ostream* out) {
    *out << to_text(finding);
}

} // namespace sluice::workflow::raw

namespace sluice::workflow::raw::testing {

/// What parse and check find in a text, one line each, named `f`.
inline std::vector<std::string> findings_in(std::string_view text,
                                            const CheckOptions& options = {}) {
    static const auto vocabulary = trigger::Vocabulary{};
    auto document = parse(text, "f");
    auto found = document ? check(*document, vocabulary, options) : document.error();
    auto texts = std::vector<std::string>{};
    for (const auto& finding : found) {
        texts.push_back(to_text(finding));
    }
    return texts;
}

} // namespace sluice::workflow::raw::testing
