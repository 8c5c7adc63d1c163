#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "connector/nats/binding.h"
#include "connector/nats/internal/handles.h"
#include "event/message.h"

namespace sluice::connector::nats::internal {

inline std::string_view text_of(const char* text) {
    return text == nullptr ? std::string_view{} : std::string_view{text};
}

inline std::string_view body_of(const natsMsg* message) {
    return {natsMsg_GetData(message), static_cast<std::size_t>(natsMsg_GetDataLength(message))};
}

/// A header field's value; empty: there is none.
std::string_view field_of(natsMsg* message, const char* name);

/// All header fields but those of JetStream.
void gather_fields(natsMsg* message, std::vector<Field>& fields);

/// Puts messages into chunks.
class MessageReader {
public:
    void add(event::ChunkBuilder& builder, std::uint64_t number, natsMsg* message);
    void add(event::ChunkBuilder& builder, std::uint64_t number, const std::vector<Field>& fields,
             std::string_view body);

private:
    Binding binding_;
    std::vector<Field> fields_;
};

} // namespace sluice::connector::nats::internal
