#pragma once

#include <string>

#include "http/message.h"

namespace sluice::http::internal {

struct ResponseShape {
    bool is_kept_alive = true;
    bool has_length = true; ///< Otherwise its body comes in chunks.
};

/// Status line and header fields up to the empty line.
std::string head_text(const Response& response, const ResponseShape& shape);
/// One chunk of a body in chunks; an empty one would end it.
std::string chunk_text(std::string_view bytes);

} // namespace sluice::http::internal
