#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "event/codec.h"
#include "event/source.h"

namespace sluice::event {

/// A message as a bus carries it: what bindings have in common.
struct Message {
    std::string_view content_type; ///< Empty: none was given.
    /// Attributes of an event in binary mode: names without the binding's prefix, values decoded.
    std::span<const std::pair<std::string_view, std::string_view>> attributes;
    std::string_view body;
};

/// Gathers messages to a chunk. What is no event is kept with the reason, for the quarantine.
class ChunkBuilder {
public:
    explicit ChunkBuilder(Limits limits = {});

    /// Structured when the content type says so, or says nothing and there are no attributes;
    /// otherwise binary. Numbers rise.
    void add(std::uint64_t number, const Message& message);
    /// One that the connector itself could not read.
    void add_fault(std::uint64_t number, std::string_view raw, std::string fault);

    std::size_t bytes() const { return bytes_.size(); }
    std::size_t count() const { return records_.size(); }
    /// What was gathered; empty again then.
    Chunk take(std::string partition, bool is_numbered = true);

private:
    Limits limits_;
    std::string bytes_;
    std::vector<Record> records_;
};

/// An event in binary mode.
struct BinaryMessage {
    std::string content_type;                                    ///< Empty: none.
    std::vector<std::pair<std::string, std::string>> attributes; ///< Without `datacontenttype`.
    std::string body;
};

BinaryMessage to_binary(const Event& event);

} // namespace sluice::event
