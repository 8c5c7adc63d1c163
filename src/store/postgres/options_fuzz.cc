#include <cstdint>
#include <string_view>

#include "base/invariant.h"
#include "store/postgres/options.h"

// Whatever is no URL of ours is refused, and what is taken keeps within its bounds.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice::store::postgres;
    auto options = Options::parse({reinterpret_cast<const char*>(data), size});
    if (options) {
        INVARIANT(options->patience > sluice::Nanos{0}, "a patience has a length");
        INVARIANT(!options->schema.empty(), "a schema has a name");
        INVARIANT(!options->where().empty(), "a server has a place");
    }
    return 0;
}
