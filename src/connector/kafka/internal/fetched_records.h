#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "connector/kafka/internal/binding.h"
#include "connector/kafka/internal/fetch_protocol.h"
#include "connector/kafka/internal/record_cursor.h"
#include "event/buffer_pool.h"
#include "event/message.h"

namespace sluice::connector::kafka::internal {

/// What a broker sent of one partition, on its way into chunks. Events that lie there as they are
/// needed are not copied: their chunk shares the bytes of the answer, or what was unpacked of it.
class FetchedRecords {
public:
    /// Those from this offset on.
    FetchedRecords(std::shared_ptr<const std::string> answer, const Fetched& fetched,
                   std::int64_t from, const event::BufferPool& buffers)
        : answer_(std::move(answer)),
          cursor_(fetched.batches, from, fetched.aborted, buffers, answer_) {
        cursor_.unpack_ahead();
    }

    /// The next of them, about so many bytes, numbered by their offset and one; without any: there
    /// are no more. Messages that have to be written anew as events go through the builder.
    Result<event::Chunk> take(event::ChunkBuilder& builder, std::size_t bytes_max);

private:
    bool is_event_as_it_lies() const;
    const std::shared_ptr<const std::string>& bytes_of_record() const {
        return record_.is_unpacked ? cursor_.unpacked().bytes : answer_;
    }
    bool has_next();
    /// What was unpacked at once stays together, so that it can be stored as it was packed.
    std::size_t chunk_bytes(std::size_t bytes_max) const;

    std::shared_ptr<const std::string> answer_;
    RecordCursor cursor_;
    Record record_; ///< The next, unless `has_record_` says that it was taken.
    bool has_record_ = false;
    RecordCursor::Step step_ = RecordCursor::Step::Record;
    MessageReader reader_;
};

} // namespace sluice::connector::kafka::internal
