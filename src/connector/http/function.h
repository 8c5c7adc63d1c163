#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "http/url.h"

namespace sluice::connector::http {

/// How the input stands in the request.
enum class Format : std::uint8_t {
    CloudEvent, ///< In binary mode: attributes as header fields, the input as the body.
    Json,       ///< The input, and nothing around it.
};

/// A function that is called by POST.
struct Function {
    sluice::http::Url url;
    std::vector<std::pair<std::string, std::string>>
        headers{}; ///< Beside those that every call has.
    Format format = Format::CloudEvent;
    /// Who has answered 202 must be heard from at least so often; zero: not at all.
    Nanos heartbeat{0};
};

} // namespace sluice::connector::http
