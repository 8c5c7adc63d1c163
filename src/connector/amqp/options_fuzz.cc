#include <cstdint>
#include <string_view>
#include <tuple>

#include "connector/amqp/options.h"
#include "value/json.h"

// What people write: a URL, or a form in JSON.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    auto text = std::string_view{reinterpret_cast<const char*>(data), size};
    std::ignore = sluice::connector::amqp::parse_url(text);
    if (auto form = sluice::value::parse_json(text); form) {
        std::ignore = sluice::connector::amqp::read_source_form(*form);
        std::ignore = sluice::connector::amqp::read_sink_form(*form);
    }
    return 0;
}
