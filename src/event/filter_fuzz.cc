#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/invariant.h"
#include "event/builder.h"
#include "event/filter.h"
#include "value/json.h"

// A filter that is taken can be asked, and an event it matches has one of the types it tells.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace sluice;
    auto form = value::parse_json({reinterpret_cast<const char*>(bytes), size});
    auto filter = form ? event::Filter::parse(*form) : Result<event::Filter>{};
    if (!form || !filter) {
        return 0;
    }
    auto types = filter->values_of("type");
    for (const auto* type : {"a", "ab", "order.paid"}) {
        auto event = event::Builder{"1", "/s", type}.subject("x").attribute("n", 1).build();
        if (filter->matches(event) && types) {
            INVARIANT(std::ranges::find(*types, type) != types->end(), "the type was told");
        }
    }
    return 0;
}
