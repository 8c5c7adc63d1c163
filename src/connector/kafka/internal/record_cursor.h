#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "connector/kafka/internal/fetch_protocol.h"
#include "connector/kafka/internal/record_batch.h"
#include "connector/kafka/internal/unpacking.h"

namespace sluice::connector::kafka::internal {

/// A record as it lies in its batch.
struct Record {
    std::int64_t offset = 0;
    std::string_view key;
    std::string_view value;
    std::string_view headers; ///< As they came: `HeaderCursor` reads them.
    std::uint32_t header_count = 0;
    bool is_unpacked = false; ///< It lies in the cursor's `unpacked` bytes.
};

/// The offset behind the last whole batch; `none` where there is no such.
std::int64_t offset_behind(std::string_view batches, std::int64_t none);

/// Goes through the record batches of one partition, in order. What belongs to transactions that
/// were given up is passed over, and so is a batch that was cut off at the end.
class RecordCursor {
public:
    enum class Step : std::uint8_t { Record, End, Fault };

    /// Records from this offset on. The owner keeps the bytes; without one they must outlive it.
    RecordCursor(std::string_view batches, std::int64_t from, std::vector<Aborted> aborted,
                 event::BufferPool buffers, std::shared_ptr<const void> owner);

    /// Unpacks the first batches now, on this thread, instead of when they are read.
    void unpack_ahead();
    Step next(Record& record);
    /// What the last record lies in, where it was packed.
    const Unpacked& unpacked() const { return unpacked_; }
    /// Corrupt; or Unsupported: whole, but of a format or packing that is not read here.
    const Error& fault() const { return fault_; }

private:
    Step next_in_batch(Record& record);
    Step begin_batch(const RecordBatch& batch, std::string_view from);
    Result<std::string_view> records_of(const RecordBatch& batch, std::string_view from);
    void end_transaction(const RecordBatch& batch);
    Step break_off(Errc code, std::string_view what);

    std::string_view batches_;
    std::int64_t from_;
    std::vector<Aborted> aborted_;    ///< Those that have not begun yet, the first last.
    std::set<std::int64_t> given_up_; ///< Producers whose records do not count just now.
    std::string_view records_;        ///< Of this batch, those that are left.
    std::uint32_t left_ = 0;
    std::int64_t base_offset_ = 0;
    event::BufferPool buffers_;
    std::shared_ptr<const void> owner_;
    Unpacked unpacked_;
    std::size_t begun_ = 0;    ///< Of the batches that were unpacked.
    bool is_unpacked_ = false; ///< This batch was packed.
    Error fault_;
};

/// The headers of a record, one after the other.
class HeaderCursor {
public:
    explicit HeaderCursor(const Record& record)
        : rest_(record.headers), left_(record.header_count) {}

    /// False at the end, and where they are damaged.
    bool next(std::string_view& name, std::string_view& value);
    bool is_at_end() const { return left_ == 0; }

private:
    std::string_view rest_;
    std::uint32_t left_;
};

} // namespace sluice::connector::kafka::internal
