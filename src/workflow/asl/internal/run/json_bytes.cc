#include "workflow/asl/internal/run/json_bytes.h"

#include "value/json.h"

namespace sluice::workflow::asl::internal::run {

std::size_t json_bytes(const Value& value, std::size_t most) {
    auto bytes = std::size_t{2};
    if (value.is_list()) {
        for (const auto& item : value.as_list()) {
            bytes += json_bytes(item, most - bytes) + 1;
            if (bytes > most) {
                return bytes;
            }
        }
    } else if (value.is_map()) {
        for (const auto& [key, member] : value.as_map()) {
            bytes += key.size() + 4 + json_bytes(member, most - bytes);
            if (bytes > most) {
                return bytes;
            }
        }
    } else if (value.is_string()) {
        bytes += value.size();
    } else if (value.is_number()) {
        return value::to_json(value).size();
    }
    return value.is_bool() || value.is_null() ? 4 : bytes;
}

} // namespace sluice::workflow::asl::internal::run
