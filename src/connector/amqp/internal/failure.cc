#include "connector/amqp/internal/failure.h"

#include <fmt/format.h>

#include "connector/amqp/internal/bytes.h"

namespace sluice::connector::amqp::internal {

namespace {

/// A queue whose leader or node is not there yet, or not any more, or that somebody holds.
bool may_pass(std::string_view text) {
    for (std::string_view sign :
         {"down or inaccessible", "running replica", "exclusive use", "timeout", "timed out"}) {
        if (text.find(sign) != std::string_view::npos) {
            return true;
        }
    }
    return false;
}

Errc code_of(int code, std::string_view text) {
    if (may_pass(text)) {
        return Errc::Unavailable;
    }
    switch (code) {
        case AMQP_NOT_FOUND: return Errc::NotFound;
        case AMQP_ACCESS_REFUSED: return Errc::InvalidInput;
        case AMQP_PRECONDITION_FAILED: return Errc::Conflict;
        case AMQP_NOT_IMPLEMENTED: return Errc::Unsupported;
        default: return Errc::Unavailable;
    }
}

} // namespace

Error failure_of(int code, std::string_view text) {
    return {code_of(code, text), fmt::format("the broker says: {} {}", code, text)};
}

Error failure_of_status(int status) {
    return {Errc::Unavailable, amqp_error_string2(status)};
}

Error failure_of(const amqp_method_t& method) {
    if (method.id == AMQP_CHANNEL_CLOSE_METHOD) {
        const auto* close = static_cast<const amqp_channel_close_t*>(method.decoded);
        return failure_of(close->reply_code, view_of(close->reply_text));
    }
    if (method.id == AMQP_CONNECTION_CLOSE_METHOD) {
        const auto* close = static_cast<const amqp_connection_close_t*>(method.decoded);
        auto failure = failure_of(close->reply_code, view_of(close->reply_text));
        failure.code = Errc::Unavailable;
        return failure;
    }
    return {Errc::Unavailable, fmt::format("the broker sent method {:#x} unasked", method.id)};
}

Error failure_of(const amqp_rpc_reply_t& reply) {
    if (reply.reply_type == AMQP_RESPONSE_SERVER_EXCEPTION) {
        return failure_of(reply.reply);
    }
    if (reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION) {
        return failure_of_status(reply.library_error);
    }
    return {Errc::Unavailable, "the broker closed the connection"};
}

} // namespace sluice::connector::amqp::internal
