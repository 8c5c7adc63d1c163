#pragma once

#include <string>
#include <string_view>

namespace sluice::connector::nats::internal {

/// One round of `%XX`; a percent sign that begins no escape stands for itself.
std::string unescape(std::string_view text);

/// CloudEvents, NATS binding 3.1.3.2 (as HTTP's): spaces, quotes, percent signs and what is not
/// printable ASCII as `%XX`.
std::string escape(std::string_view text);

} // namespace sluice::connector::nats::internal
