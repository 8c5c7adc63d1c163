#include "server/stepfunctions/internal/response.h"

#include "server/stepfunctions/internal/identity.h"
#include "server/stepfunctions/parameters.h"
#include "value/json.h"

namespace sluice::server::stepfunctions {

namespace {

http::Response response(int status, const Value& value) {
    return {
        .status = status,
        .headers = {{"Content-Type", std::string{content_type}}, {"x-amzn-RequestId", make_uuid()}},
        .body = value::to_json(value)};
}

std::string type_of(int status, std::string_view code) {
    if (code == "not_found" || code == "method_not_allowed") {
        return "UnknownOperationException";
    }
    if (code == "unknown_namespace") {
        return "ResourceNotFound";
    }
    switch (status) {
        case 401: return "UnrecognizedClientException";
        case 403: return "AccessDeniedException";
        case 429: return "ThrottlingException";
        case 503: return "ServiceUnavailableException";
        default: return status >= 500 ? "InternalServerException" : "ValidationException";
    }
}

} // namespace

http::Response response_of(const Value& value) {
    return response(200, value);
}

http::Response response_of(const Fault& fault) {
    auto told =
        response(fault.status, Value::object({{"__type", fault.type}, {"message", fault.message}}));
    told.headers.add("x-amzn-ErrorType", fault.type);
    return told;
}

Fault fault_of_problem(int status, std::string_view body) {
    auto problem = value::parse_json(body);
    auto said = problem && problem->is_map() ? *problem : Value::object({});
    // Clients take a signature that is refused for a matter of the request, not of the way to it.
    auto is_plain = status == 401 || status == 403 || status == 404 || status == 405;
    return {.type = type_of(status, text_in(said, "code")),
            .message = text_in(said, "detail"),
            .status = is_plain ? 400 : status};
}

} // namespace sluice::server::stepfunctions
