#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/invariant.h"
#include "event/codec.h"
#include "event/s3_notification.h"

// Whatever a notification says, what comes of it are valid events, and the same ones each time.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace sluice;
    auto json = std::string_view{reinterpret_cast<const char*>(bytes), size};
    auto events = event::read_s3_notification(json);
    if (!events) {
        return 0;
    }
    auto codec = event::Codec{};
    auto again = event::read_s3_notification(json);
    INVARIANT(again && again->size() == events->size(), "read once, read again");
    for (auto at = std::size_t{0}; at < events->size(); ++at) {
        INVARIANT(codec.parse((*events)[at].json()), "it is a valid event");
        INVARIANT((*again)[at].id() == (*events)[at].id(), "ids are made of the notification");
    }
    return 0;
}
