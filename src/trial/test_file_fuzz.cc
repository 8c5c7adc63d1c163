#include <cstddef>
#include <cstdint>

#include "base/invariant.h"
#include "trial/test_file.h"

// Whatever comes in, the answer is cases or findings with their places.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice;
    auto text = std::string_view{reinterpret_cast<const char*>(data), size};
    auto read = trial::parse_tests(text, "fuzz.yaml");
    if (!read) {
        INVARIANT(!read.error().empty(), "a refusal says why");
        for (const auto& finding : read.error()) {
            INVARIANT(finding.line >= 1 && finding.column >= 1, "a finding has a place");
        }
        return 0;
    }
    INVARIANT(!read->cases.empty(), "a test file has cases");
    for (const auto& each : read->cases) {
        INVARIANT(!each.name.empty(), "a case has a name");
    }
    return 0;
}
