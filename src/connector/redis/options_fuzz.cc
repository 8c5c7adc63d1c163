#include <cstddef>
#include <cstdint>
#include <string>

#include "connector/redis/options.h"
#include "connector/redis/position.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    auto text = std::string{reinterpret_cast<const char*>(data), size};
    std::ignore = sluice::connector::redis::parse_options("redis://h/" + text);
    std::ignore = sluice::connector::redis::parse_options("redis://h/?" + text);
    if (auto position = sluice::connector::redis::position_of(text)) {
        auto again =
            sluice::connector::redis::position_of(sluice::connector::redis::id_of(*position));
        if (!again || *again != *position) {
            __builtin_trap();
        }
    }
    return 0;
}
