#include "event/message.h"

#include <algorithm>

#include <fmt/format.h>

#include "event/internal/binary_mode.h"

namespace sluice::event {

namespace {

// Of what is no event this much is kept, for a person to look at.
constexpr auto fault_bytes_max = std::size_t{64 * 1024};

bool is_structured(const Message& message) {
    return message.content_type.empty() ? message.attributes.empty()
                                        : message.content_type == internal::structured_type;
}

} // namespace

ChunkBuilder::ChunkBuilder(Limits limits) : limits_(limits) {}

void ChunkBuilder::add(std::uint64_t number, const Message& message) {
    if (message.body.size() > limits_.event_bytes_max) {
        add_fault(number, message.body,
                  fmt::format("the message has {} bytes: at most {} are taken", message.body.size(),
                              limits_.event_bytes_max));
        return;
    }
    auto begin = bytes_.size();
    if (is_structured(message)) {
        bytes_ += message.body;
    } else if (auto type = internal::media_type(message.content_type);
               type == internal::structured_type) {
        bytes_ += message.body;
    } else if (type.starts_with("application/cloudevents")) {
        add_fault(number, message.body,
                  fmt::format("{} is not read here: send {}", type, internal::structured_type));
        return;
    } else if (message.attributes.empty()) {
        add_fault(number, message.body,
                  fmt::format("a message of {} without attributes is no CloudEvent: send {}, or "
                              "the attributes beside the data",
                              type, internal::structured_type));
        return;
    } else if (auto done = internal::append_binary(message, bytes_); !done) {
        bytes_.resize(begin);
        add_fault(number, message.body, done.error().message);
        return;
    }
    records_.push_back({.number = number, .begin = begin, .size = bytes_.size() - begin});
}

void ChunkBuilder::add_fault(std::uint64_t number, std::string_view raw, std::string fault) {
    raw = raw.substr(0, fault_bytes_max);
    records_.push_back(
        {.number = number, .begin = bytes_.size(), .size = raw.size(), .fault = std::move(fault)});
    bytes_ += raw;
}

Chunk ChunkBuilder::take(std::string partition, bool is_numbered) {
    auto chunk = Chunk{.partition = std::move(partition), .is_numbered = is_numbered};
    chunk.records = std::exchange(records_, {});
    records_.reserve(chunk.records.size());
    auto size = bytes_.size();
    bytes_.append(Codec::padding_bytes, '\0');
    chunk.bytes = std::make_shared<const std::string>(std::exchange(bytes_, {}));
    bytes_.reserve(size + Codec::padding_bytes);
    return chunk;
}

} // namespace sluice::event
