#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "value/value.h"

namespace sluice::expr::testing {

/// An expression and what the page says it gives.
struct Example {
    std::string source;
    std::string result;
};

/// A page of the documents whose examples are run: `1 + 1  =>  2`, a line each, in fenced blocks.
class ReferencePage {
public:
    explicit ReferencePage(std::filesystem::path path) : path_{std::move(path)} {}

    /// What the blocks of `json` say together.
    Value sample() const;
    /// Of all blocks of one language.
    std::vector<Example> examples(std::string_view language) const;

private:
    std::vector<std::string> lines_of(std::string_view language) const;

    std::filesystem::path path_;
};

} // namespace sluice::expr::testing
