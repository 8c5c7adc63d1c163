#include "server/stepfunctions/internal/operation.h"

#include <utility>

#include "server/stepfunctions/internal/identity.h"
#include "server/stepfunctions/internal/response.h"

namespace sluice::server::stepfunctions {

namespace {

constexpr auto arn_characters_max = std::uint64_t{2000};
constexpr auto token_characters_max = std::uint64_t{3096};

} // namespace

void Responder::operator()(const Answer& answer) const {
    reply_->answer(answer ? response_of(*answer) : response_of(answer.error()));
}

Parameter arn_parameter(std::string_view name, Parameter::Need need) {
    return {.name = name, .need = need, .least = 1, .most = arn_characters_max};
}

Parameter text_parameter(std::string_view name, std::uint64_t most, Parameter::Need need) {
    return {.name = name, .need = need, .most = most};
}

Parameter choice_parameter(std::string_view name, std::vector<std::string_view> choices) {
    return {.name = name, .choices = std::move(choices)};
}

std::vector<Parameter> with_page(std::vector<Parameter> parameters) {
    parameters.push_back({.name = "maxResults", .kind = Parameter::Kind::Number, .most = 1000});
    parameters.push_back({.name = "nextToken", .least = 1, .most = token_characters_max});
    return parameters;
}

} // namespace sluice::server::stepfunctions
