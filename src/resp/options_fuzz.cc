#include <cstddef>
#include <cstdint>

#include "resp/options.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    auto text = std::string_view{reinterpret_cast<const char*>(data), size};
    if (auto url = sluice::resp::parse_url(text)) {
        std::ignore = url->server.address();
    }
    std::ignore = sluice::resp::parse_url("redis://" + std::string{text});
    std::ignore = sluice::resp::parse_duration("fuzz", text);
    return 0;
}
