#pragma once

#include <expected>
#include <string>

#include "base/result.h"
#include "http/message.h"
#include "value/value.h"

namespace sluice::client {

/// Why a call came to nothing: what the server answered, or that it did not. The message is the
/// problem's detail.
struct Problem : Error {
    Problem() = default;
    Problem(Error error) // NOLINT(google-explicit-constructor): a Result's error becomes one.
        : Error(std::move(error)) {}

    int status = 0;   ///< Of HTTP; 0: there was no answer.
    std::string name; ///< Its `code`, such as `not_found`.
    Value document;   ///< All of it, with what else it has, such as `findings`.
};

/// What an answer means that is no success.
Problem problem_of(const http::Response& response);

/// A Result that keeps what the server said.
template <typename T>
class [[nodiscard]] Answer : public std::expected<T, Problem> {
public:
    using std::expected<T, Problem>::expected;
};

} // namespace sluice::client
