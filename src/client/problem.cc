#include "client/problem.h"

#include <utility>

#include <fmt/format.h>

#include "value/json.h"

namespace sluice::client {

namespace {

Errc errc_of(int status, std::string_view name) {
    switch (status) {
        case 404: return Errc::NotFound;
        case 409: return name == "already_exists" ? Errc::AlreadyExists : Errc::Conflict;
        case 413: return Errc::LimitExceeded;
        case 415: return Errc::Unsupported;
        case 429:
        case 502:
        case 503:
        case 504: return Errc::Unavailable;
        case 507: return Errc::NoSpace;
        default: return status >= 500 ? Errc::Io : Errc::InvalidInput;
    }
}

std::string text_of(const Value& document, std::string_view key) {
    const auto* found = document.find(key);
    return found != nullptr && found->is_string() ? std::string{found->as_string()} : "";
}

} // namespace

Problem problem_of(const http::Response& response) {
    auto problem = Problem{};
    if (auto parsed = value::parse_json(response.body)) {
        problem.document = *std::move(parsed);
    }
    problem.status = response.status;
    problem.name = text_of(problem.document, "code");
    problem.message = text_of(problem.document, "detail");
    // Something in between may answer that knows no problem documents.
    if (problem.message.empty()) {
        problem.message = fmt::format("the server answered {} {}", response.status,
                                      http::reason_of(response.status));
    }
    problem.code = errc_of(problem.status, problem.name);
    return problem;
}

} // namespace sluice::client
