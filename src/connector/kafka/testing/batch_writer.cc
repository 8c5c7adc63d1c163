#include "connector/kafka/testing/batch_writer.h"

#include "base/bytes.h"
#include "event/testing/frames.h"

namespace sluice::connector::kafka::testing {

namespace {

void text(Encoder& out, const std::string& text) {
    out.svarint(static_cast<std::int64_t>(text.size()));
    out.raw(text);
}

std::string body_of(const BatchWriter::Record& record, std::int64_t offset) {
    auto body = std::string{};
    auto out = Encoder{body};
    out.u8(0);
    out.svarint(0);
    out.svarint(offset);
    text(out, record.key);
    text(out, record.value);
    out.svarint(static_cast<std::int64_t>(record.headers.size()));
    for (const auto& [name, value] : record.headers) {
        text(out, name);
        text(out, value);
    }
    return body;
}

std::string packed(internal::Packing packing, const std::string& records) {
    using Kind = event::FrameUnpacker::Kind;
    switch (packing) {
        case internal::Packing::Lz4: return event::testing::frame_of(Kind::Lz4, records);
        case internal::Packing::Zstd: return event::testing::streamed_frame_of(Kind::Zstd, records);
        default: return records;
    }
}

} // namespace

std::string BatchWriter::bytes() const {
    auto count = static_cast<std::int32_t>(records.size());
    auto all = std::string{};
    auto out_records = Encoder{all};
    for (auto at = std::int32_t{0}; at < count; ++at) {
        text(out_records, body_of(records[static_cast<std::size_t>(at)], at));
    }
    auto rest = std::string{};
    auto out = Encoder{rest};
    out.u32(0); // Leader's epoch.
    out.u8(static_cast<std::uint8_t>(format));
    out.u32(0); // Checksum, which nobody looks at.
    out.u16(static_cast<std::uint16_t>(static_cast<unsigned>(packing) |
                                       (is_transactional ? 0x10U : 0U) |
                                       (is_control ? 0x20U : 0U)));
    out.u32(static_cast<std::uint32_t>((offsets < 0 ? count : offsets) - 1));
    out.u64(0); // Times.
    out.u64(0);
    out.u64(static_cast<std::uint64_t>(producer));
    out.u16(0);
    out.u32(0);
    out.u32(static_cast<std::uint32_t>(count));
    out.raw(packed(packing, all));
    auto whole = std::string{};
    auto head = Encoder{whole};
    head.u64(static_cast<std::uint64_t>(base_offset));
    head.u32(static_cast<std::uint32_t>(rest.size()));
    head.raw(rest);
    return whole;
}

BatchWriter abort_mark(std::int64_t offset, std::int64_t producer) {
    auto key = std::string(4, '\0');
    return {.base_offset = offset,
            .records = {{.value = std::string(6, '\0'), .key = key}},
            .producer = producer,
            .is_transactional = true,
            .is_control = true};
}

} // namespace sluice::connector::kafka::testing
