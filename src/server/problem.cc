#include "server/problem.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "value/json.h"

namespace sluice::server {

namespace {

struct Kind {
    int status;
    std::string_view code;
};

Kind kind_of(Errc code) {
    switch (code) {
        case Errc::InvalidInput: return {400, "invalid_input"};
        case Errc::NotFound: return {404, "not_found"};
        case Errc::AlreadyExists: return {409, "already_exists"};
        case Errc::Conflict:
        case Errc::Stale: return {409, "conflict"};
        case Errc::LimitExceeded: return {413, "limit_exceeded"};
        case Errc::NoSpace: return {507, "no_space"};
        case Errc::Unavailable: return {503, "unavailable"};
        case Errc::Unsupported: return {415, "unsupported"};
        case Errc::Corrupt:
        case Errc::Io:
        case Errc::Internal: return {500, "internal"};
    }
    return {500, "internal"};
}

} // namespace

Problem problem_of(const Error& error) {
    auto [status, code] = kind_of(error.code);
    auto problem = Problem{.status = status, .code = std::string{code}, .detail = error.message};
    if (status == 503 || status == 507) {
        problem.headers.add("Retry-After", "1");
    }
    return problem;
}

http::Response to_response(const Problem& problem) {
    auto members =
        std::vector<value::Member>{{"type", fmt::format("/errors/{}", problem.code)},
                                   {"title", std::string{http::reason_of(problem.status)}},
                                   {"status", problem.status},
                                   {"code", problem.code},
                                   {"detail", problem.detail}};
    if (problem.more.is_map()) {
        for (const auto& [name, value] : problem.more.as_map()) {
            members.push_back({name, value});
        }
    }
    auto response = http::Response{.status = problem.status, .headers = problem.headers};
    response.headers.set("Content-Type", "application/problem+json");
    response.body = value::to_json(Value::map(std::move(members)));
    return response;
}

} // namespace sluice::server
