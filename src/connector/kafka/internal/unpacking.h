#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "connector/kafka/internal/record_batch.h"
#include "event/buffer_pool.h"
#include "event/packed_text.h"

namespace sluice::connector::kafka::internal {

/// The records of batches that were packed, one behind the other.
struct Unpacked {
    std::shared_ptr<const std::string> bytes{};
    std::vector<std::size_t> ends{}; ///< Of each batch's.
    /// What they were packed in; null where nobody would take it for that.
    std::shared_ptr<const event::PackedText> packed{};
};

/// Those packed ones of these batches that come first, until they have about so many bytes. Corrupt
/// when one cannot be unpacked, Unsupported when it is packed in a way, or is larger, than is read
/// here: where it is not the first it is left to the next call. The owner keeps the batches.
Result<Unpacked> unpack_some(std::string_view batches, std::size_t bytes_max,
                             event::BufferPool& buffers, std::shared_ptr<const void> owner);

} // namespace sluice::connector::kafka::internal
