#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "expr/jsonata/internal/integer_picture.h"

namespace sluice::expr::jsonata::internal {

/// A picture of XPath's `format-dateTime`: literals and markers such as `[Y0001]`.
struct TimePicture {
    struct Part {
        std::string literal;
        char component = 0; ///< 0: a literal.
        bool has_names = false;
        LetterCase letter_case = LetterCase::Lower;
        bool is_traditional = false; ///< `t`: UTC is written Z.
        std::optional<std::size_t> width_max;
        std::optional<int> year_digits; ///< How many of a year's last digits are written.
        std::optional<IntegerPicture> integer;
    };

    std::vector<Part> parts;

    /// Raises D3132, D3135 and what IntegerPicture raises.
    static TimePicture parse(std::string_view text);
    static const TimePicture& iso8601();
};

/// Milliseconds since 1970 in a zone that is so many minutes ahead of UTC. Raises D3133, D3134.
std::string format_time(std::int64_t millis, const TimePicture& picture, int offset_minutes);

/// Nothing when the text does not fit. What is left out before the first component that is given
/// comes from `now`. `spend` bounds the matching. Raises D3133 and D3136.
std::optional<std::int64_t> parse_time(std::string_view text, const TimePicture& picture,
                                       std::int64_t now,
                                       const std::function<void(std::size_t)>& spend);

/// One of the components Y M D d F W w X x H h P m s f of a moment.
std::int64_t component_of(std::int64_t millis, char component);

extern const std::vector<std::string_view> month_names;
extern const std::vector<std::string_view> day_names; ///< Monday first.

} // namespace sluice::expr::jsonata::internal
