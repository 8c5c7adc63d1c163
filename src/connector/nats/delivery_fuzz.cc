#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "connector/nats/delivery.h"
#include "connector/nats/publish_answer.h"

using namespace sluice::connector;

/// What a server says of a message, and to one.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    auto text = std::string_view{reinterpret_cast<const char*>(bytes), size};
    auto delivery = nats::parse_delivery(text);
    if (delivery && (delivery->stream_number == 0 || !text.contains(delivery->consumer))) {
        std::abort();
    }
    std::ignore = nats::parse_publish_answer(text);
    return 0;
}
