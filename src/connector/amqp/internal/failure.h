#pragma once

#include <string_view>

#include <amqp.h>

#include "base/result.h"

namespace sluice::connector::amqp::internal {

/// What the broker's refusals and the library's errors are to us. Unavailable: it may pass.
Error failure_of(int code, std::string_view text);
Error failure_of(const amqp_rpc_reply_t& reply);
Error failure_of_status(int status);
/// Of a method by which the broker closes a channel or the connection.
Error failure_of(const amqp_method_t& method);

} // namespace sluice::connector::amqp::internal
