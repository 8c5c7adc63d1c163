#include <cstddef>
#include <cstdint>
#include <string_view>

#include "connector/nats/form.h"
#include "connector/nats/options.h"
#include "value/json.h"

using namespace sluice;
using namespace sluice::connector;

/// A URL, or a form as JSON.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    auto text = std::string_view{reinterpret_cast<const char*>(bytes), size};
    if (!text.starts_with('{')) {
        std::ignore = nats::parse_url(text);
        return 0;
    }
    auto form = value::parse_json(text);
    if (form) {
        std::ignore = nats::parse_source(*form);
        std::ignore = nats::parse_sink(*form);
    }
    return 0;
}
