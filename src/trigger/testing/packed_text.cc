#include "trigger/testing/packed_text.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "event/testing/frames.h"

namespace sluice::trigger::testing {

std::shared_ptr<const event::PackedText> packed_text(std::shared_ptr<const std::string> bytes,
                                                     std::size_t size, std::uint64_t events,
                                                     std::size_t frame_bytes,
                                                     event::FrameUnpacker::Kind kind) {
    auto frames = std::make_shared<std::vector<std::string>>();
    for (auto at = std::size_t{0}; at < size; at += frame_bytes) {
        auto text = std::string_view{*bytes}.substr(at, std::min(frame_bytes, size - at));
        frames->push_back(event::testing::frame_of(kind, text));
    }
    auto packed = event::PackedText{
        .bytes = std::move(bytes), .size = size, .events = events, .frames = {}, .owner = frames};
    packed.frames.assign(frames->begin(), frames->end());
    return std::make_shared<const event::PackedText>(std::move(packed));
}

} // namespace sluice::trigger::testing
