#include <cstddef>
#include <cstdint>

#include "base/invariant.h"
#include "value/time_text.h"

// Whatever is parsed is written so that it is parsed the same again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    auto text = std::string_view{reinterpret_cast<const char*>(data), size};
    if (auto time = sluice::value::parse_time(text)) {
        auto again = sluice::value::parse_time(sluice::value::format_time(*time));
        INVARIANT(again && *again == *time, "a time is read back");
    }
    if (auto duration = sluice::value::parse_duration(text)) {
        auto again = sluice::value::parse_duration(sluice::value::format_duration(*duration));
        INVARIANT(again && *again == *duration, "a duration is read back");
    }
    return 0;
}
