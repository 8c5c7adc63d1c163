#include <cstddef>
#include <cstdint>

#include "base/invariant.h"
#include "value/internal/json_fault.h"
#include "value/json.h"

// Whatever is parsed follows the grammar and is written so that it is parsed the same again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    auto text = std::string_view{reinterpret_cast<const char*>(data), size};
    auto value = sluice::value::parse_json(text);
    auto fault = sluice::value::find_json_fault(text);
    INVARIANT(!value || !fault, "what does not follow the grammar is refused");
    auto literal = std::string{};
    sluice::value::write_json_string(text, literal);
    INVARIANT(sluice::value::parse_json(literal), "a literal of any bytes is JSON");
    if (!value) {
        return 0;
    }
    auto written = sluice::value::to_json(*value);
    auto again = sluice::value::parse_json(written);
    INVARIANT(again && *again == *value, "what was written is parsed the same");
    INVARIANT(sluice::value::to_json(*again) == written, "a value has one JSON text");
    auto indented = sluice::value::parse_json(sluice::value::to_pretty_json(*value));
    INVARIANT(indented && *indented == *value, "indentation changes nothing");
    return 0;
}
