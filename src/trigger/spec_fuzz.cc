#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/invariant.h"
#include "trigger/spec.h"
#include "value/json.h"

using namespace sluice;

/// Any JSON is read or refused, and what was read comes back the same from its form.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    auto form = value::parse_json({reinterpret_cast<const char*>(data), size});
    if (!form) {
        return 0;
    }
    auto problems = std::vector<trigger::Problem>{};
    auto spec = trigger::parse_set(*form, {}, problems);
    if (!problems.empty()) {
        INVARIANT(!trigger::to_error(problems).message.empty(), "a problem has a message");
        return 0;
    }
    auto again = trigger::parse_set(trigger::to_form(spec), {}, problems);
    INVARIANT(problems.empty(), "the form of a valid spec is valid");
    INVARIANT(again.triggers == spec.triggers, "a trigger comes back the same");
    INVARIANT(trigger::to_form(again) == trigger::to_form(spec), "a set comes back the same");
    return 0;
}
