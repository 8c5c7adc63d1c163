#include <cstddef>
#include <cstdint>

#include "base/invariant.h"
#include "trigger/history.h"
#include "trigger/internal/packed_record.h"

/// Whatever bytes a store gives as a history record, reading them ends, and what was packed is
/// read as it was.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice::trigger;
    auto bytes = std::string_view{reinterpret_cast<const char*>(data), size};
    static_cast<void>(decode_record(bytes));
    auto room = std::string{};
    auto stored = internal::pack(bytes, room);
    if (stored.data() != bytes.data()) {
        INVARIANT(internal::unpack(stored).value() == bytes, "what was packed comes back");
    }
    return 0;
}
