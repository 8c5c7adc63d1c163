#include "event/frame_unpacker.h"

#include <algorithm>

#include <lz4frame.h>
#include <zstd.h>
#include <zstd_errors.h>

namespace sluice::event {

namespace {

constexpr auto step_bytes = std::size_t{256 * 1024};
constexpr auto lz4_magic = std::string_view{"\x04\x22\x4D\x18"};
constexpr auto zstd_magic = std::string_view{"\x28\xB5\x2F\xFD"};

template <auto Free>
struct Freeing {
    void operator()(auto* context) const { Free(context); }
};

std::unexpected<Error> damaged() {
    return fail(Errc::Corrupt, "a frame is damaged");
}

/// So many bytes at least, and some ahead where more may follow.
Result<void> grow(std::string& buffer, std::size_t bytes_min, std::size_t bytes_max) {
    if (bytes_min > bytes_max) {
        return fail(Errc::LimitExceeded, "unpacked it has more than {} bytes", bytes_max);
    }
    if (buffer.size() < bytes_min) {
        buffer.resize(std::min(bytes_min + step_bytes, bytes_max));
    }
    return {};
}

} // namespace

struct FrameUnpacker::Contexts {
    std::unique_ptr<LZ4F_dctx, Freeing<LZ4F_freeDecompressionContext>> lz4;
    std::unique_ptr<ZSTD_DCtx, Freeing<ZSTD_freeDCtx>> zstd;
};

FrameUnpacker::FrameUnpacker() : contexts_(std::make_unique<Contexts>()) {}
FrameUnpacker::FrameUnpacker(FrameUnpacker&&) noexcept = default;
FrameUnpacker::~FrameUnpacker() = default;

FrameUnpacker::Kind FrameUnpacker::kind_of(std::string_view frames) {
    return frames.starts_with(lz4_magic)    ? Kind::Lz4
           : frames.starts_with(zstd_magic) ? Kind::Zstd
                                            : Kind::Unknown;
}

Result<std::size_t> FrameUnpacker::unpack(std::string_view& frames, std::string& buffer,
                                          std::size_t used, std::size_t bytes_max) {
    switch (kind_of(frames)) {
        case Kind::Lz4: return unpack_lz4(frames, buffer, used, bytes_max);
        case Kind::Zstd: return unpack_zstd(frames, buffer, used, bytes_max);
        case Kind::Unknown: break;
    }
    return fail(Errc::Corrupt, "{} bytes begin with no frame of LZ4 or zstd", frames.size());
}

Result<std::size_t> FrameUnpacker::unpack_lz4(std::string_view& frames, std::string& buffer,
                                              std::size_t used, std::size_t bytes_max) {
    auto& context = contexts_->lz4;
    if (!context) {
        LZ4F_dctx* made = nullptr;
        if (LZ4F_isError(LZ4F_createDecompressionContext(&made, LZ4F_VERSION)) != 0) {
            return fail(Errc::Internal, "LZ4 has no memory");
        }
        context.reset(made);
    }
    auto rest = frames;
    for (auto left = std::size_t{1}; left != 0;) {
        auto room = buffer.size() - used;
        auto taken = rest.size();
        left = LZ4F_decompress(context.get(), buffer.data() + used, &room, rest.data(), &taken,
                               nullptr);
        auto stands_still = left != 0 && taken == 0 && room == 0;
        auto done = LZ4F_isError(left) != 0 || (stands_still && used < buffer.size())
                        ? Result<void>{damaged()}
                    : stands_still ? grow(buffer, used + 1, bytes_max)
                                   : Result<void>{};
        if (!done) {
            context.reset(); // It stands in the middle of this frame.
            return std::unexpected(done.error());
        }
        used += room;
        rest.remove_prefix(taken);
    }
    frames = rest;
    return used;
}

/// At once, since in parts it would be copied once more.
Result<std::size_t> FrameUnpacker::unpack_zstd(std::string_view& frames, std::string& buffer,
                                               std::size_t used, std::size_t bytes_max) {
    auto& context = contexts_->zstd;
    if (!context) {
        context.reset(ZSTD_createDCtx());
    }
    if (!context) {
        return fail(Errc::Internal, "zstd has no memory");
    }
    auto bytes = ZSTD_findFrameCompressedSize(frames.data(), frames.size());
    if (ZSTD_isError(bytes) != 0) {
        return damaged();
    }
    auto told = ZSTD_getFrameContentSize(frames.data(), bytes);
    if (told != ZSTD_CONTENTSIZE_UNKNOWN && told != ZSTD_CONTENTSIZE_ERROR) {
        if (told > bytes_max - std::min(used, bytes_max)) {
            return fail(Errc::LimitExceeded, "unpacked it has more than {} bytes", bytes_max);
        }
        TRY(grow(buffer, used + told, bytes_max));
    }
    while (true) {
        auto got = ZSTD_decompressDCtx(context.get(), buffer.data() + used, buffer.size() - used,
                                       frames.data(), bytes);
        if (ZSTD_isError(got) == 0) {
            frames.remove_prefix(bytes);
            return used + got;
        }
        if (ZSTD_getErrorCode(got) != ZSTD_error_dstSize_tooSmall) {
            return damaged();
        }
        // It begins anew, so there is to be much more room.
        auto room = std::max(2 * (buffer.size() - used), step_bytes);
        TRY(grow(buffer, std::max(std::min(used + room, bytes_max), buffer.size() + 1), bytes_max));
    }
}

} // namespace sluice::event
