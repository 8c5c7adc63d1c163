#include "connector/nats/internal/message_reader.h"

#include <cstdlib>
#include <memory>

namespace sluice::connector::nats::internal {

namespace {

/// JetStream's own, such as the message's key.
constexpr auto system_prefix = std::string_view{"Nats-"};

struct Free {
    void operator()(const char** keys) const { std::free(keys); } // NOLINT: the library's malloc.
};

} // namespace

std::string_view field_of(natsMsg* message, const char* name) {
    const auto* value = static_cast<const char*>(nullptr);
    return natsMsgHeader_Get(message, name, &value) == NATS_OK ? text_of(value)
                                                               : std::string_view{};
}

void MessageReader::add(event::ChunkBuilder& builder, std::uint64_t number, natsMsg* message) {
    gather(message);
    auto body = body_of(message);
    if (fields_.empty()) {
        builder.add(number, {.body = body});
    } else {
        builder.add(number, binding_.read(fields_, body));
    }
}

void MessageReader::gather(natsMsg* message) {
    fields_.clear();
    auto* found = static_cast<const char**>(nullptr);
    auto count = 0;
    if (natsMsgHeader_Keys(message, &found, &count) != NATS_OK) {
        return;
    }
    auto keys = std::unique_ptr<const char*, Free>{found};
    for (auto at = 0; at < count; ++at) {
        auto name = text_of(found[at]);
        if (!name.starts_with(system_prefix)) {
            fields_.emplace_back(name, field_of(message, found[at]));
        }
    }
}

} // namespace sluice::connector::nats::internal
