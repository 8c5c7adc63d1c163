#pragma once

#include <string>
#include <string_view>

#include "connector/http/function.h"
#include "event/sink.h"
#include "http/message.h"

namespace sluice::connector::http {

/// The request that a delivery becomes. Without a callback address nobody can answer later.
sluice::http::Request request_of(const Function& function, const event::Delivery& delivery,
                                 std::string_view callback_base);

/// As a header field can hold it: what is no visible ASCII, and `%`, as `%XX`.
std::string field_text(std::string_view text);

} // namespace sluice::connector::http
