#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "http/message.h"
#include "value/value.h"

namespace sluice::server {

/// What a caller is told when something went wrong: RFC 9457, with a code that has a page in
/// docs/errors/.
struct Problem {
    int status = 500;
    std::string code;
    std::string detail;      ///< What was wrong, and what to write instead.
    Value more;              ///< Further members, such as `findings`; a map or null.
    http::Headers headers{}; ///< Such as `Retry-After`.
};

/// The kinds of error that every part of the program knows, as HTTP says them.
Problem problem_of(const Error& error);

http::Response to_response(const Problem& problem);

} // namespace sluice::server
