#pragma once

#include <string_view>
#include <vector>

#include "connector/nats/binding.h"

namespace sluice::connector::nats::internal::wire {

/// The header of a message: `NATS/1.0 404 No Messages`, and fields.
struct Header {
    std::string_view status{}; ///< Empty: it is none of the server's words.
    std::string_view description{};
    std::vector<Field> fields{}; ///< Without those of JetStream, each name once.
};

/// More fields than an event can have attributes are not looked at.
inline constexpr auto header_fields_max = std::size_t{512};

/// Points into the text. One that is malformed is read as far as it can be understood: the message
/// is somebody's, and has to be passed on.
void read_header(std::string_view text, Header& header);

} // namespace sluice::connector::nats::internal::wire
