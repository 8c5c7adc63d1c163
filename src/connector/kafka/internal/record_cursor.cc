#include "connector/kafka/internal/record_cursor.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

namespace sluice::connector::kafka::internal {

namespace {

constexpr auto varint_bytes_max = std::size_t{10};
constexpr auto unpacked_bytes_max = std::size_t{256 * 1024};
constexpr std::string_view abort_mark{"\0\0\0\0", 4}; ///< Version 0, kind 0.

// Each record passes here half a dozen times: a call would cost as much as the work.
[[gnu::always_inline]] inline bool take(std::string_view& bytes, std::int64_t& number) {
    auto raw = std::uint64_t{0};
    for (auto at = std::size_t{0}; at < bytes.size() && at < varint_bytes_max; ++at) {
        auto byte = static_cast<unsigned char>(bytes[at]);
        raw |= static_cast<std::uint64_t>(byte & 0x7FU) << (7 * at);
        if (byte < 0x80) {
            bytes.remove_prefix(at + 1);
            number = static_cast<std::int64_t>(raw >> 1U) ^ -static_cast<std::int64_t>(raw & 1U);
            return true;
        }
    }
    return false;
}

/// Length, then the bytes; -1 stands for none.
[[gnu::always_inline]] inline bool take(std::string_view& bytes, std::string_view& part) {
    auto size = std::int64_t{0};
    if (!take(bytes, size) || size > static_cast<std::int64_t>(bytes.size())) {
        return false;
    }
    part = size < 0 ? std::string_view{} : bytes.substr(0, static_cast<std::size_t>(size));
    bytes.remove_prefix(part.size());
    return true;
}

bool read_record(std::string_view body, std::int64_t base_offset, Record& record) {
    auto time = std::int64_t{0};
    auto offset = std::int64_t{0};
    auto headers = std::int64_t{0};
    if (body.empty()) {
        return false;
    }
    body.remove_prefix(1); // Attributes, none of which exists yet.
    if (!take(body, time) || !take(body, offset) || !take(body, record.key) ||
        !take(body, record.value) || !take(body, headers) || headers < 0 ||
        headers > static_cast<std::int64_t>(body.size())) {
        return false;
    }
    record.offset = base_offset + offset;
    record.headers = body;
    record.header_count = static_cast<std::uint32_t>(headers);
    return true;
}

} // namespace

std::int64_t offset_behind(std::string_view batches, std::int64_t none) {
    auto behind = none;
    for (auto batch = RecordBatch::first_of(batches);
         batch && batch->format() == RecordBatch::format_read;
         batch = RecordBatch::first_of(batches)) {
        behind = batch->last_offset() + 1;
        batches.remove_prefix(batch->size());
    }
    return behind;
}

RecordCursor::RecordCursor(std::string_view batches, std::int64_t from,
                           std::vector<Aborted> aborted, event::BufferPool buffers,
                           std::shared_ptr<const void> owner)
    : batches_(batches),
      from_(from),
      aborted_(std::move(aborted)),
      buffers_(std::move(buffers)),
      owner_(std::move(owner)) {
    std::ranges::sort(aborted_, std::greater{}, &Aborted::first_offset);
}

void RecordCursor::unpack_ahead() {
    auto batch = RecordBatch::first_of(batches_);
    if (batch && batch->format() == RecordBatch::format_read && batch->packing() != Packing::None) {
        // What fails now fails again when it is read, and is told then.
        unpacked_ =
            unpack_some(batches_, unpacked_bytes_max, buffers_, owner_).value_or(Unpacked{});
    }
}

RecordCursor::Step RecordCursor::next(Record& record) {
    while (true) {
        while (left_ > 0) {
            auto step = next_in_batch(record);
            if (step == Step::Fault || record.offset >= from_) {
                return step;
            }
        }
        auto batch = RecordBatch::first_of(batches_);
        if (!batch) {
            return Step::End;
        }
        auto from_here = batches_;
        batches_.remove_prefix(batch->size());
        if (begin_batch(*batch, from_here) == Step::Fault) {
            return Step::Fault;
        }
    }
}

RecordCursor::Step RecordCursor::next_in_batch(Record& record) {
    --left_;
    auto body = std::string_view{};
    if (!take(records_, body) || !read_record(body, base_offset_, record)) {
        return break_off(Errc::Corrupt, "has a damaged record");
    }
    record.is_unpacked = is_unpacked_;
    return Step::Record;
}

/// Of one that does not count nothing is left.
RecordCursor::Step RecordCursor::begin_batch(const RecordBatch& batch, std::string_view from) {
    base_offset_ = batch.base_offset();
    left_ = 0;
    if (batch.format() != RecordBatch::format_read) {
        return break_off(Errc::Unsupported, "is of an older format");
    }
    auto records = records_of(batch, from);
    if (!records) {
        fault_ = records.error();
        return Step::Fault;
    }
    for (; !aborted_.empty() && aborted_.back().first_offset <= batch.last_offset();
         aborted_.pop_back()) {
        given_up_.insert(aborted_.back().producer);
    }
    if (batch.is_control()) {
        end_transaction(batch);
    } else if (!batch.is_transactional() || !given_up_.contains(batch.producer())) {
        records_ = *records;
        left_ = batch.count();
    }
    return Step::Record;
}

/// Packed batches are unpacked some at a time.
Result<std::string_view> RecordCursor::records_of(const RecordBatch& batch, std::string_view from) {
    is_unpacked_ = batch.packing() != Packing::None;
    if (!is_unpacked_) {
        return batch.records();
    }
    if (begun_ == unpacked_.ends.size()) {
        unpacked_ = TRY(unpack_some(from, unpacked_bytes_max, buffers_, owner_));
        begun_ = 0;
    }
    auto begin = begun_ == 0 ? 0 : unpacked_.ends[begun_ - 1];
    auto end = unpacked_.ends[begun_++];
    return std::string_view{*unpacked_.bytes}.substr(begin, end - begin);
}

void RecordCursor::end_transaction(const RecordBatch& batch) {
    auto rest = batch.records();
    auto body = std::string_view{};
    auto mark = Record{};
    if (take(rest, body) && read_record(body, base_offset_, mark) && mark.key == abort_mark) {
        given_up_.erase(batch.producer());
    }
}

RecordCursor::Step RecordCursor::break_off(Errc code, std::string_view what) {
    fault_ = {code, fmt::format("the batch at offset {} {}", base_offset_, what)};
    left_ = 0;
    batches_ = {};
    return Step::Fault;
}

bool HeaderCursor::next(std::string_view& name, std::string_view& value) {
    if (left_ == 0 || !take(rest_, name) || !take(rest_, value)) {
        return false;
    }
    --left_;
    return true;
}

} // namespace sluice::connector::kafka::internal
