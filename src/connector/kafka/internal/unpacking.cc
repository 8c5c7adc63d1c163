#include "connector/kafka/internal/unpacking.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "event/codec.h"
#include "event/frame_unpacker.h"

namespace sluice::connector::kafka::internal {

namespace {

using Kind = event::FrameUnpacker::Kind;

constexpr auto buffer_bytes_max = std::size_t{64} << 20U;

/// What its frame must be.
Result<Kind> kind_of(Packing packing) {
    switch (packing) {
        case Packing::Lz4: return Kind::Lz4;
        case Packing::Zstd: return Kind::Zstd;
        case Packing::Gzip: return fail(Errc::Unsupported, "a batch is packed by gzip");
        case Packing::Snappy: return fail(Errc::Unsupported, "a batch is packed by Snappy");
        default: return fail(Errc::Unsupported, "a batch is packed in an unknown way");
    }
}

/// Behind what is used of the buffer; gives how much of it is used then. Nothing is left of the
/// frame but what nobody reads.
Result<std::size_t> unpack_one(Packing packing, std::string_view& frame,
                               event::FrameUnpacker& unpacker, std::string& buffer,
                               std::size_t used) {
    if (event::FrameUnpacker::kind_of(frame) != TRY(kind_of(packing))) {
        return fail(Errc::Corrupt, "a packed batch is damaged");
    }
    auto end = unpacker.unpack(frame, buffer, used, buffer_bytes_max);
    if (!end && end.error().code == Errc::LimitExceeded) {
        return fail(Errc::Unsupported, "packed batches have more than {} bytes", buffer_bytes_max);
    }
    return end;
}

} // namespace

Result<Unpacked> unpack_some(std::string_view batches, std::size_t bytes_max,
                             event::BufferPool& buffers, std::shared_ptr<const void> owner) {
    auto unpacked = Unpacked{};
    auto unpacker = event::FrameUnpacker{};
    auto buffer = buffers.take();
    auto used = std::size_t{0};
    auto packed = event::PackedText{};
    for (auto batch = RecordBatch::first_of(batches);
         batch && batch->format() == RecordBatch::format_read && used < bytes_max;
         batch = RecordBatch::first_of(batches)) {
        batches.remove_prefix(batch->size());
        if (batch->packing() == Packing::None) {
            continue;
        }
        auto left = batch->records();
        auto end = unpack_one(batch->packing(), left, unpacker, buffer, used);
        if (!end && unpacked.ends.empty()) {
            return std::unexpected(end.error());
        }
        if (!end) {
            break;
        }
        used = *end;
        unpacked.ends.push_back(used);
        packed.frames.push_back(batch->records().substr(0, batch->records().size() - left.size()));
        packed.events += batch->count();
    }
    buffer.resize(std::max(buffer.size(), used + event::Codec::padding_bytes));
    unpacked.bytes = buffers.lend(std::move(buffer));
    packed.size = used;
    if (packed.is_plausible()) {
        packed.bytes = unpacked.bytes;
        packed.owner = std::move(owner);
        unpacked.packed = std::make_shared<const event::PackedText>(std::move(packed));
    }
    return unpacked;
}

} // namespace sluice::connector::kafka::internal
