#pragma once

#include <string>

namespace sluice::workflow::raw {

/// One thing wrong with a definition, with its place in the author's file. Lines and columns begin
/// at 1; columns count bytes.
struct Finding {
    std::string file;
    int line = 1;
    int column = 1;
    std::string path; ///< `triggers/2/condition/count`; empty: the whole file.
    std::string message;

    bool operator==(const Finding&) const = default;
};

/// `file:3:5: triggers/0/on: message`
std::string to_text(const Finding& finding);

} // namespace sluice::workflow::raw
