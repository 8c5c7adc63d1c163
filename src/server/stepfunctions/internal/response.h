#pragma once

#include "http/message.h"
#include "server/stepfunctions/fault.h"
#include "value/value.h"

namespace sluice::server::stepfunctions {

inline constexpr auto content_type = std::string_view{"application/x-amz-json-1.0"};

http::Response response_of(const Value& value);
http::Response response_of(const Fault& fault);
/// What the gateway says, in the service's words.
Fault fault_of_problem(int status, std::string_view body);

} // namespace sluice::server::stepfunctions
