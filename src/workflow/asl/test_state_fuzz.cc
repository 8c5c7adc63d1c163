#include <cstdint>
#include <string_view>

#include "value/json.h"
#include "workflow/asl/test_state.h"

namespace asl = sluice::workflow::asl;

// A state and its input, from anybody: whatever it is, there is an outcome or a refusal.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    auto text = std::string_view{reinterpret_cast<const char*>(data), size};
    auto line = text.find('\n');
    auto definition = sluice::value::parse_json(text.substr(0, line));
    auto rest = line == std::string_view::npos ? std::string_view{"{}"} : text.substr(line + 1);
    auto input = sluice::value::parse_json(rest);
    if (!definition || !input) {
        return 0;
    }
    auto test = asl::StateTest{
        .definition = *definition, .state = {}, .input = *input, .failing_state = {}, .role = {}};
    static_cast<void>(asl::test_state(test));
    test.mock = asl::TestMock{.outcome = *input};
    static_cast<void>(asl::test_state(test));
    test.mock = asl::TestMock{.outcome = asl::TestMock::Error{.error = "E", .cause = {}}};
    static_cast<void>(asl::test_state(test));
    return 0;
}
