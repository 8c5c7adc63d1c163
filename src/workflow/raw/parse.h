#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "value/value.h"
#include "workflow/raw/finding.h"
#include "workflow/raw/positions.h"

namespace sluice::workflow::raw {

/// A definition as its author wrote it: read, not yet understood.
struct Document {
    std::string file;
    Value form;
    Positions positions;
};

struct ParseOptions {
    std::size_t depth_max = 128; ///< Lists and maps within each other; JSON has 1000 at most.
};

/// Reads YAML 1.2 with its core schema, or JSON where the text begins with a brace.
///
/// Refused: keys given twice, merge keys, tags of one's own, infinities, several documents, what is
/// not UTF-8, and more than 64 MiB, so many levels or, with aliases followed, 1,000,000 values.
std::expected<Document, std::vector<Finding>> parse(std::string_view text,
                                                    std::string_view file_name,
                                                    const ParseOptions& options = {});

} // namespace sluice::workflow::raw
