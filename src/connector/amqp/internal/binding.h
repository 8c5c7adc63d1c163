#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amqp.h>

#include "base/result.h"
#include "connector/amqp/internal/table.h"
#include "event/message.h"

namespace sluice::connector::amqp::internal {

/// Where a stream has this message; nothing when it came from another kind of queue.
std::optional<std::uint64_t> stream_offset(const amqp_basic_properties_t& properties);

/// The binding of CloudEvents to AMQP, its application properties being the headers of 0.9.1:
/// attributes stand there as `cloudEvents:NAME` or `cloudEvents_NAME`.
class MessageReader {
public:
    /// Views of the properties and of this reader, until the next call. Fails with InvalidInput
    /// when an attribute is of a type that CloudEvents has not.
    Result<event::Message> read(const amqp_basic_properties_t& properties, std::string_view body);

private:
    std::vector<std::pair<std::string_view, std::string_view>> attributes_;
    std::deque<std::string> texts_; ///< Of attributes that were no texts.
};

/// An event as it is sent: properties with what they refer to.
class MessageWriter {
public:
    /// Views of what is given and of this writer, until the next call.
    amqp_basic_properties_t structured(std::string_view key);
    amqp_basic_properties_t binary(std::string_view key, const event::BinaryMessage& message);

private:
    Table headers_;
    std::deque<std::string> names_;
};

} // namespace sluice::connector::amqp::internal
