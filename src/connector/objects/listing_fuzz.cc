#include <cstdint>
#include <string_view>
#include <tuple>

#include "connector/objects/s3_bucket.h"

// What an endpoint answers to a request for a list: read, or refused.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    auto text = std::string_view{reinterpret_cast<const char*>(data), size};
    std::ignore = sluice::connector::objects::read_listing(text);
    std::ignore = sluice::connector::objects::check_key(text);
    return 0;
}
