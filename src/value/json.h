#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "value/value.h"

namespace sluice::value {

struct JsonLimits {
    std::size_t bytes_max = 64UL * 1024 * 1024;
    std::size_t depth_max =
        128; ///< Lists and maps within each other; no more than 1000 are granted.
};

/// One JSON text, nothing behind it. Integers that fit int64 become Int, else those that fit
/// uint64 Uint, other numbers Double. Fails with InvalidInput, naming the byte where it can, or
/// with LimitExceeded. Of repeated keys the first stands.
Result<Value> parse_json(std::string_view text, const JsonLimits& limits = {});

/// Compact JSON. Bytes become base64, timestamps RFC 3339, durations as "1.5s", NaN and
/// infinities null. What came from parse_json comes back the same.
void write_json(const Value& value, std::string& out);
std::string to_json(const Value& value);
/// Indented by two spaces, for people.
std::string to_pretty_json(const Value& value);

/// The JSON string literal of a text, quotes included.
void write_json_string(std::string_view text, std::string& out);

} // namespace sluice::value
