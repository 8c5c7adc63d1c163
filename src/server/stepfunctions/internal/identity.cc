#include "server/stepfunctions/internal/identity.h"

#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sodium.h>

namespace sluice::server::stepfunctions {

std::string make_uuid() {
    auto bytes = std::array<unsigned char, 16>{};
    randombytes_buf(bytes.data(), bytes.size());
    bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0FU) | 0x40U);
    bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3FU) | 0x80U);
    auto text = fmt::format("{:02x}", fmt::join(bytes, ""));
    for (auto place : {8, 13, 18, 23}) {
        text.insert(static_cast<std::size_t>(place), 1, '-');
    }
    return text;
}

} // namespace sluice::server::stepfunctions
