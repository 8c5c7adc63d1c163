#include <cstddef>
#include <cstdint>
#include <string>

#include "store/redis/options.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    auto text = std::string{reinterpret_cast<const char*>(data), size};
    std::ignore = sluice::store::redis::parse_options("redis://h/" + text);
    std::ignore = sluice::store::redis::parse_options("rediss://h/?" + text);
    return 0;
}
