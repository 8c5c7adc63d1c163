#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "value/value.h"

namespace sluice::trigger {

/// What one attribute must be: this text, a text that begins so, or anything.
struct TextPattern {
    enum class Kind : std::uint8_t { Any, Exact, Prefix };

    Kind kind = Kind::Any;
    std::string text;

    bool matches(std::string_view candidate) const;
    bool operator==(const TextPattern&) const = default;

    /// `*` is any, `img/*` a prefix, `img` exact; a star elsewhere is InvalidInput.
    static Result<TextPattern> parse(std::string_view text);
    std::string to_text() const;
};

/// Which events a trigger waits for, by type and subject.
struct Pattern {
    TextPattern type;
    TextPattern subject;

    bool matches(std::string_view event_type, std::string_view event_subject) const;
    bool operator==(const Pattern&) const = default;
};

} // namespace sluice::trigger
