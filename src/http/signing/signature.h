#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "http/message.h"
#include "http/url.h"

namespace sluice::http::signing {

/// What the header Authorization of AWS Signature Version 4 says.
struct Signature {
    static constexpr auto algorithm = std::string_view{"AWS4-HMAC-SHA256"};

    std::string key; ///< Id of the access key.
    std::string day; ///< 20261116
    std::string region;
    std::string service;
    std::vector<std::string> headers{}; ///< That are signed, in their order.
    std::string digest{};

    /// Fails with InvalidInput when a part is missing.
    static Result<Signature> parse(std::string_view header);

    /// Whether the request was signed with this secret, not long before or after now. Fails with
    /// InvalidInput without a date, with Stale for another time, with Conflict for another secret.
    Result<void> check(const Request& request, std::string_view secret, Time now) const;
    /// As hexadecimal digits.
    std::string digest_of(const Request& request, std::string_view secret) const;
    /// As the header has it.
    std::string text() const;
};

/// With whose key, and for what, requests are signed.
struct Signer {
    std::string key;
    std::string secret;
    std::string region;
    std::string service;
};

/// Adds `X-Amz-Date`, `X-Amz-Content-Sha256` and `Authorization` to a request that goes to this
/// address.
void sign(Request& request, const Url& url, const Signer& signer, Time now);

} // namespace sluice::http::signing
