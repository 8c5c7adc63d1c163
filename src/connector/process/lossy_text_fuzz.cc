#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/invariant.h"
#include "connector/process/lossy_text.h"
#include "value/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    auto bytes = std::string_view{reinterpret_cast<const char*>(data), size};
    auto text = sluice::connector::process::lossy_text(bytes);
    auto json = std::string{};
    sluice::value::write_json_string(text, json);
    INVARIANT(sluice::value::parse_json(json).has_value(), "lossy text is UTF-8");
    return 0;
}
