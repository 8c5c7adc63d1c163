#pragma once

#include <string_view>

#include "event/internal/scanner.h"

namespace sluice::event::internal {

/// Goes through JSON that a scanner has passed, by brackets, quotes and commas alone: what was
/// checked when it came in is not checked again, so what is not asked for costs little. It stays
/// within the text whatever that is.
class Skimmer {
public:
    /// Begins at a value, nothing before it.
    explicit Skimmer(std::string_view text) : at_(text.data()), end_(at_ + text.size()) {}

    /// The next byte; 0 at the end.
    char peek() const { return at_ < end_ ? *at_ : '\0'; }
    /// Moves to the next member's value. Called first at the brace, then behind each value; false
    /// when there are no more. Whether the name is plain is not told.
    bool next_member(Scanner::String& name);
    /// As next_member, in a list.
    bool next_item() { return next(']'); }
    /// Moves behind a value, which is given as it stands.
    std::string_view pass_value();

private:
    bool next(char close);

    const char* at_;
    const char* end_;
};

} // namespace sluice::event::internal
