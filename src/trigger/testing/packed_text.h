#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "event/frame_unpacker.h"
#include "event/packed_text.h"

namespace sluice::trigger::testing {

/// The first bytes of these, as a bus might have packed them: in frames of so many bytes each.
std::shared_ptr<const event::PackedText> packed_text(
    std::shared_ptr<const std::string> bytes, std::size_t size, std::uint64_t events = 0,
    std::size_t frame_bytes = 1000,
    event::FrameUnpacker::Kind kind = event::FrameUnpacker::Kind::Lz4);

} // namespace sluice::trigger::testing
