#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "connector/amqp/internal/stream/amqp10_value.h"
#include "event/message.h"

namespace sluice::connector::amqp::internal::stream {

/// Messages as they lie in a stream: sections of AMQP 1.0 (part 3.2), also where they were
/// published by 0.9.1. CloudEvents stand there as its binding to AMQP has them.
class SectionReader {
public:
    /// Views of the bytes and of this reader, until the next call. Fails with InvalidInput when
    /// they are no message, or an attribute is of a type that CloudEvents has not.
    Result<event::Message> read(std::string_view bytes);

private:
    std::string_view join(std::string_view body, std::string_view part);
    Result<void> read_application_properties(const Amqp10Value& map);

    std::vector<std::pair<std::string_view, std::string_view>> attributes_;
    std::deque<std::string> texts_; ///< Of attributes that were no texts.
    std::string body_;              ///< Of messages with several data sections.
};

} // namespace sluice::connector::amqp::internal::stream
