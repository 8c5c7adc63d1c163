#pragma once

#include <cstddef>
#include <string>

namespace sluice::cli {

/// So many random bytes as hexadecimal digits: for what nobody has given an id.
std::string random_id(std::size_t bytes);

} // namespace sluice::cli
