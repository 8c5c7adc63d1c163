#include <cstddef>
#include <cstdint>

#include "base/invariant.h"
#include "workflow/asl/check.h"
#include "workflow/asl/parse.h"

// Whatever comes in, it is a machine whose numbers lead to states and flows that are there, or it
// is told why it is none.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice;
    namespace asl = workflow::asl;
    auto text = std::string_view{reinterpret_cast<const char*>(data), size};
    auto form = asl::parse(text);
    if (!form) {
        return 0;
    }
    auto is_single = size % 2 == 1;
    auto machine = asl::read(*form, {.is_express = size % 3 == 0, .is_single_state = is_single});
    if (!machine) {
        INVARIANT(!machine.error().empty(), "what is refused is told why");
        return 0;
    }
    for (const auto& state : (*machine)->states) {
        INVARIANT(state.flow < (*machine)->flows.size(), "a state is in a flow");
        INVARIANT(state.next.value_or(0) < (*machine)->states.size(), "a transition has a target");
    }
    return 0;
}
