#pragma once

#include <string>
#include <string_view>

#include "event/frame_unpacker.h"

namespace sluice::event::testing {

/// Text as a sender packs it.
std::string frame_of(FrameUnpacker::Kind kind, std::string_view text);
/// By one who did not know beforehand how much it would be.
std::string streamed_frame_of(FrameUnpacker::Kind kind, std::string_view text);

} // namespace sluice::event::testing
