#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/invariant.h"
#include "resp/parser.h"
#include "store/redis/internal/slots.h"

// What a server may say for CLUSTER SLOTS, or as an error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice::store::redis::internal;
    auto bytes = std::string_view{reinterpret_cast<const char*>(data), size};
    auto redirect = redirect_in(bytes);
    INVARIANT(!redirect || redirect->slot < slot_count, "a redirect is about a slot");
    auto parser = sluice::resp::Parser{{.elements_max = 1000}};
    auto is_whole = parser.feed(bytes);
    if (!is_whole || !*is_whole) {
        return 0;
    }
    auto map = SlotMap::parse(parser.reply(bytes), "here");
    if (map && redirect) {
        map->move(redirect->slot, redirect->to);
        INVARIANT(*map->owner_of(redirect->slot) == redirect->to, "a slot is where it moved");
    }
    return 0;
}
