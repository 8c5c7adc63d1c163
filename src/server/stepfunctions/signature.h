#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "http/message.h"
#include "server/stepfunctions/fault.h"

namespace sluice::server::stepfunctions {

/// What the header Authorization of AWS Signature Version 4 says.
struct Signature {
    static constexpr auto algorithm = std::string_view{"AWS4-HMAC-SHA256"};

    std::string key; ///< Id of the access key.
    std::string day; ///< 20261116
    std::string region;
    std::string service;
    std::vector<std::string> headers; ///< That are signed, in their order.
    std::string digest;

    /// Fails with IncompleteSignature.
    static std::expected<Signature, Fault> parse(std::string_view header);

    /// Whether the request was signed with this secret, not long before or after now.
    std::expected<void, Fault> check(const http::Request& request, std::string_view secret,
                                     Time now) const;
    /// As hexadecimal digits.
    std::string digest_of(const http::Request& request, std::string_view secret) const;
};

} // namespace sluice::server::stepfunctions
