#pragma once

#include <optional>

#include "base/clock.h"
#include "base/result.h"
#include "event/sink.h"
#include "http/message.h"

namespace sluice::connector::http {

/// Whether the answer comes later, by token.
inline bool is_later(const sluice::http::Response& response) {
    return response.status == 202;
}

/// What an answer means for the call of a function.
///
/// The body of any 2xx but 202 is the result: JSON as its value, text as a text, anything else as
/// bytes, nothing as null. Errors have the kinds `busy`, `rejected`, `failed` and `bad_output`,
/// unless a JSON body names its own under `kind`; their detail has status and body.
event::Answer answer_of(const sluice::http::Response& response, Time now);

/// What it means that there is none: `timeout`, `unreachable`, `connection`, `forbidden_address`
/// or `bad_output`.
event::Answer answer_of(const Error& error);

} // namespace sluice::connector::http
