#include "connector/kafka/internal/unpacking.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <lz4frame.h>
#include <zstd.h>

#include "event/codec.h"

namespace sluice::connector::kafka::internal {

namespace {

constexpr auto step_bytes = std::size_t{256 * 1024};
constexpr auto buffer_bytes_max = std::size_t{64} << 20U;

std::unexpected<Error> damaged() {
    return fail(Errc::Corrupt, "a packed batch is damaged");
}

/// Bytes behind those that are used already.
Result<void> make_room(std::string& buffer, std::size_t used) {
    if (used + step_bytes > buffer_bytes_max) {
        return fail(Errc::Unsupported, "packed batches have more than {} bytes", buffer_bytes_max);
    }
    if (buffer.size() < used + step_bytes) {
        buffer.resize(std::min(2 * (used + step_bytes), buffer_bytes_max));
    }
    return {};
}

/// Gives how much of the buffer is used then.
Result<std::size_t> unpack_lz4(std::string_view& packed, std::string& buffer, std::size_t used) {
    LZ4F_dctx* raw = nullptr;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&raw, LZ4F_VERSION)) != 0) {
        return fail(Errc::Internal, "LZ4 has no memory");
    }
    auto context = std::unique_ptr<LZ4F_dctx, decltype(&LZ4F_freeDecompressionContext)>{
        raw, LZ4F_freeDecompressionContext};
    for (auto left = std::size_t{1}; left != 0;) {
        TRY(make_room(buffer, used));
        auto room = buffer.size() - used;
        auto taken = packed.size();
        left = LZ4F_decompress(context.get(), buffer.data() + used, &room, packed.data(), &taken,
                               nullptr);
        if (LZ4F_isError(left) != 0 || (left != 0 && taken == 0 && room == 0)) {
            return damaged();
        }
        used += room;
        packed.remove_prefix(taken);
    }
    return used;
}

Result<std::size_t> unpack_zstd(std::string_view packed, std::string& buffer, std::size_t used) {
    auto context =
        std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)>{ZSTD_createDCtx(), ZSTD_freeDCtx};
    auto in = ZSTD_inBuffer{packed.data(), packed.size(), 0};
    for (auto left = std::size_t{1}; left != 0;) {
        TRY(make_room(buffer, used));
        auto out = ZSTD_outBuffer{buffer.data(), buffer.size(), used};
        auto before = in.pos;
        left = ZSTD_decompressStream(context.get(), &out, &in);
        if (ZSTD_isError(left) != 0 || (left != 0 && in.pos == before && out.pos == used)) {
            return damaged();
        }
        used = out.pos;
    }
    return used;
}

/// Of what is packed by LZ4 nothing is left then but what nobody reads.
Result<std::size_t> unpack_one(Packing packing, std::string_view& packed, std::string& buffer,
                               std::size_t used) {
    switch (packing) {
        case Packing::Lz4: return unpack_lz4(packed, buffer, used);
        case Packing::Zstd: return unpack_zstd(packed, buffer, used);
        case Packing::Gzip: return fail(Errc::Unsupported, "a batch is packed by gzip");
        case Packing::Snappy: return fail(Errc::Unsupported, "a batch is packed by Snappy");
        default: return fail(Errc::Unsupported, "a batch is packed in an unknown way");
    }
}

} // namespace

Result<Unpacked> unpack_some(std::string_view batches, std::size_t bytes_max,
                             event::BufferPool& buffers, std::shared_ptr<const void> owner) {
    auto unpacked = Unpacked{};
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
        auto end = unpack_one(batch->packing(), left, buffer, used);
        if (!end && unpacked.ends.empty()) {
            return std::unexpected(end.error());
        }
        if (!end) {
            break;
        }
        used = *end;
        unpacked.ends.push_back(used);
        if (batch->packing() == Packing::Lz4) {
            auto frame_bytes = batch->records().size() - left.size();
            packed.frames.push_back(batch->records().substr(0, frame_bytes));
            packed.events += batch->count();
        }
    }
    buffer.resize(std::max(buffer.size(), used + event::Codec::padding_bytes));
    unpacked.bytes = buffers.lend(std::move(buffer));
    if (packed.frames.size() == unpacked.ends.size()) {
        packed.bytes = unpacked.bytes;
        packed.size = used;
        packed.owner = std::move(owner);
        unpacked.packed = std::make_shared<const event::PackedText>(std::move(packed));
    }
    return unpacked;
}

} // namespace sluice::connector::kafka::internal
