#include <algorithm>
#include <cstdint>
#include <string_view>
#include <tuple>

#include "connector/nats/delivery.h"
#include "connector/nats/internal/wire/header.h"
#include "connector/nats/internal/wire/operation_buffer.h"
#include "connector/nats/internal/wire/server_info.h"

using namespace sluice::connector::nats;

// What comes over a socket, a few bytes at a time: operations, and what lies in them.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    auto rest = std::string_view{reinterpret_cast<const char*>(data), size};
    auto buffer = internal::wire::OperationBuffer{};
    auto header = internal::wire::Header{};
    while (true) {
        auto operation = buffer.next();
        if (!operation || (!*operation && rest.empty())) {
            return 0;
        }
        if (*operation) {
            internal::wire::read_header((*operation)->header, header);
            std::ignore = parse_delivery((*operation)->reply);
            std::ignore = internal::wire::read_server_info((*operation)->text);
            continue;
        }
        auto room = buffer.room();
        auto part = rest.substr(0, std::min<std::size_t>(room.size(), 7));
        std::ranges::copy(part, room.begin());
        buffer.add(part.size());
        rest.remove_prefix(part.size());
    }
}
