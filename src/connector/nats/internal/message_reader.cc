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
    gather_fields(message, fields_);
    add(builder, number, fields_, body_of(message));
}

void MessageReader::add(event::ChunkBuilder& builder, std::uint64_t number,
                        const std::vector<Field>& fields, std::string_view body) {
    if (fields.empty()) {
        builder.add(number, {.body = body});
    } else {
        builder.add(number, binding_.read(fields, body));
    }
}

void gather_fields(natsMsg* message, std::vector<Field>& fields) {
    fields.clear();
    auto* found = static_cast<const char**>(nullptr);
    auto count = 0;
    if (natsMsgHeader_Keys(message, &found, &count) != NATS_OK) {
        return;
    }
    auto keys = std::unique_ptr<const char*, Free>{found};
    for (auto at = 0; at < count; ++at) {
        auto name = text_of(found[at]);
        if (!name.starts_with(system_prefix)) {
            fields.emplace_back(name, field_of(message, found[at]));
        }
    }
}

} // namespace sluice::connector::nats::internal
