#pragma once

#include <string>
#include <vector>

#include "trigger/spec.h"

namespace sluice::workflow::raw {

/// One thing wrong with a definition, with its place in the author's file. Lines and columns begin
/// at 1; columns count bytes.
struct Finding {
    std::string file;
    int line = 1;
    int column = 1;
    std::string path; ///< `triggers/2/condition/count`; empty: the whole file.
    std::string message;
    std::string code{};      ///< Where the language has codes.
    std::string location{};  ///< A JSON pointer, where the language has them.
    bool is_warning = false; ///< It does not stop the definition.

    bool operator==(const Finding&) const = default;
};

struct Document;

/// The problems of a document with their places in its file, in the order of the text; at most 100.
std::vector<Finding> locate(const Document& document, std::vector<trigger::Problem> problems);

/// `file:3:5: triggers/0/on: message`; a warning says so before its message.
std::string to_text(const Finding& finding);

} // namespace sluice::workflow::raw
