#include "event/testing/frames.h"

#include <memory>

#include <lz4frame.h>
#include <zstd.h>

namespace sluice::event::testing {

std::string frame_of(FrameUnpacker::Kind kind, std::string_view text) {
    auto frame = std::string{};
    if (kind == FrameUnpacker::Kind::Lz4) {
        frame.resize(LZ4F_compressFrameBound(text.size(), nullptr));
        frame.resize(
            LZ4F_compressFrame(frame.data(), frame.size(), text.data(), text.size(), nullptr));
    } else {
        frame.resize(ZSTD_compressBound(text.size()));
        frame.resize(ZSTD_compress(frame.data(), frame.size(), text.data(), text.size(), 1));
    }
    return frame;
}

std::string streamed_frame_of(FrameUnpacker::Kind kind, std::string_view text) {
    if (kind == FrameUnpacker::Kind::Lz4) {
        return frame_of(kind, text); // It tells its size to nobody.
    }
    auto context =
        std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)>{ZSTD_createCCtx(), ZSTD_freeCCtx};
    auto frame = std::string(ZSTD_compressBound(text.size()), '\0');
    auto out = ZSTD_outBuffer{frame.data(), frame.size(), 0};
    auto half = text.size() / 2;
    auto first = ZSTD_inBuffer{text.data(), half, 0};
    ZSTD_compressStream2(context.get(), &out, &first, ZSTD_e_continue);
    auto second = ZSTD_inBuffer{text.data() + half, text.size() - half, 0};
    ZSTD_compressStream2(context.get(), &out, &second, ZSTD_e_end);
    frame.resize(out.pos);
    return frame;
}

} // namespace sluice::event::testing
