#include "cli/internal/random_id.h"

#include <random>

#include <fmt/format.h>

namespace sluice::cli {

std::string random_id(std::size_t bytes) {
    auto source = std::random_device{};
    auto id = std::string{};
    for (auto at = std::size_t{0}; at < bytes; ++at) {
        id += fmt::format("{:02x}", source() & 0xFFU);
    }
    return id;
}

} // namespace sluice::cli
