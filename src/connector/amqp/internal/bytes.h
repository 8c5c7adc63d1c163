#pragma once

#include <string_view>

#include <amqp.h>

namespace sluice::connector::amqp::internal {

/// For the call only. The library never writes to what it is to send.
inline amqp_bytes_t bytes_of(std::string_view text) {
    return {.len = text.size(), .bytes = const_cast<char*>(text.data())};
}

inline std::string_view view_of(const amqp_bytes_t& bytes) {
    return {static_cast<const char*>(bytes.bytes), bytes.len};
}

} // namespace sluice::connector::amqp::internal
