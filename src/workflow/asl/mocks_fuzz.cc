#include <cstdint>
#include <string_view>

#include "value/json.h"
#include "workflow/asl/mocks.h"

namespace asl = sluice::workflow::asl;

// A line of mocks and one with an input, from anybody: an outcome or a refusal.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    auto text = std::string_view{reinterpret_cast<const char*>(data), size};
    auto line = text.find('\n');
    auto form = sluice::value::parse_json(text.substr(0, line));
    auto input = sluice::value::parse_json(line == std::string_view::npos ? std::string_view{"{}"}
                                                                          : text.substr(line + 1));
    if (!form || !input) {
        return 0;
    }
    auto mocks = asl::Mocks::read(*form);
    if (!mocks) {
        return 0;
    }
    for (auto call = 0; call < 3; ++call) {
        static_cast<void>(mocks->has("State"));
        static_cast<void>(mocks->answer("State", *input));
    }
    static_cast<void>(asl::is_like(*form, *input));
    return 0;
}
