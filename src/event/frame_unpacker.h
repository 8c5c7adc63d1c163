#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sluice::event {

/// Unpacks text that came packed, frame by frame, as brokers hand it out and history keeps it.
class FrameUnpacker {
public:
    /// A frame tells by how it begins which it is.
    enum class Kind : std::uint8_t { Lz4, Zstd, Unknown };

    FrameUnpacker();
    FrameUnpacker(FrameUnpacker&&) noexcept;
    ~FrameUnpacker();

    static Kind kind_of(std::string_view frames);
    /// The text of the frame that comes first, behind what is used of the buffer, which grows where
    /// it has to, up to so many bytes. Tells how much is used then; the frame is taken off. Fails
    /// with Corrupt, or with LimitExceeded when it is larger.
    Result<std::size_t> unpack(std::string_view& frames, std::string& buffer, std::size_t used,
                               std::size_t bytes_max);

private:
    struct Contexts;

    Result<std::size_t> unpack_lz4(std::string_view& frames, std::string& buffer, std::size_t used,
                                   std::size_t bytes_max);
    Result<std::size_t> unpack_zstd(std::string_view& frames, std::string& buffer, std::size_t used,
                                    std::size_t bytes_max);

    std::unique_ptr<Contexts> contexts_;
};

} // namespace sluice::event
