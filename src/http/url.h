#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace sluice::http {

/// The target of a request, taken apart and decoded.
struct Target {
    std::vector<std::string> segments; ///< Of the path: `/v1/runs/a%2Fb` has `v1`, `runs`, `a/b`.
    std::vector<std::pair<std::string, std::string>> query;

    /// The first value of that name; null when there is none.
    const std::string* find(std::string_view name) const;
};

/// A target without scheme and host: whoever goes through a proxy names them too (RFC 9112, 3.2.2).
std::string_view origin_form(std::string_view target);

/// Refuses escapes that are none, bytes that are no UTF-8, control characters, and segments `.` and
/// `..`, encoded or not.
Result<Target> parse_target(std::string_view target);

/// Where to send a request.
struct Url {
    bool is_secure = false;
    std::string host; ///< Without the brackets of an IPv6 address.
    std::uint16_t port = 80;
    std::string target = "/";

    /// As the header Host has it: the port only where it is not the usual one.
    std::string authority() const;
};

/// `http://` and `https://` only. Names and passwords in it are refused: they end up in logs.
Result<Url> parse_url(std::string_view text);

/// Everything but letters, digits and `-._~` as `%XX`.
std::string percent_encode(std::string_view text);
/// One round. Fails on `%` that is no escape.
Result<std::string> percent_decode(std::string_view text);

} // namespace sluice::http
