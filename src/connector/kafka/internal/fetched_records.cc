#include "connector/kafka/internal/fetched_records.h"

#include <utility>

namespace sluice::connector::kafka::internal {

namespace {

constexpr auto event_bytes_max = event::Limits{}.event_bytes_max;

std::uint64_t number_of(const Record& record) {
    return static_cast<std::uint64_t>(record.offset) + 1;
}

} // namespace

bool FetchedRecords::has_next() {
    if (!has_record_ && step_ == RecordCursor::Step::Record) {
        step_ = cursor_.next(record_);
        has_record_ = step_ == RecordCursor::Step::Record;
    }
    return has_record_;
}

bool FetchedRecords::is_event_as_it_lies() const {
    return record_.header_count == 0 && record_.value.size() <= event_bytes_max;
}

std::size_t FetchedRecords::chunk_bytes(std::size_t bytes_max) const {
    const auto& packed = cursor_.unpacked().packed;
    auto is_whole = record_.is_unpacked && packed && packed->size <= 2 * bytes_max;
    return is_whole ? packed->size : bytes_max;
}

Result<event::Chunk> FetchedRecords::take(event::ChunkBuilder& builder, std::size_t bytes_max) {
    auto chunk = event::Chunk{};
    auto bytes = std::size_t{0};
    for (; has_next(); has_record_ = false) {
        auto is_plain = is_event_as_it_lies();
        auto has_other_kind =
            is_plain ? builder.count() > 0 || (bytes > 0 && chunk.bytes != bytes_of_record())
                     : !chunk.records.empty();
        auto is_full = bytes > 0 && bytes + record_.value.size() > chunk_bytes(bytes_max);
        if (has_other_kind || is_full) {
            break;
        }
        bytes += record_.value.size();
        if (is_plain) {
            if (chunk.records.empty()) {
                chunk.bytes = bytes_of_record();
                chunk.packed = record_.is_unpacked ? cursor_.unpacked().packed : nullptr;
            }
            auto begin = static_cast<std::size_t>(record_.value.data() - chunk.bytes->data());
            chunk.records.push_back(
                {.number = number_of(record_), .begin = begin, .size = record_.value.size()});
        } else {
            reader_.add(builder, number_of(record_), record_);
        }
    }
    if (step_ == RecordCursor::Step::Fault && bytes == 0) {
        return std::unexpected(cursor_.fault());
    }
    return builder.count() > 0 ? builder.take({}) : std::move(chunk);
}

} // namespace sluice::connector::kafka::internal
