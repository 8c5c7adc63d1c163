#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::event {

/// Text of events as it was packed on its way here: whoever stores all of it need not pack it anew.
struct PackedText {
    /// No text has more than so many times the bytes that it came packed in: whoever reads it back
    /// knows what to believe. LZ4 gives no more.
    static constexpr auto ratio_max = std::size_t{255};

    std::shared_ptr<const std::string> bytes; ///< Unpacked, it is the first `size` of these.
    std::size_t size = 0;
    std::uint64_t events = 0;             ///< That lie in it.
    std::vector<std::string_view> frames; ///< Which hold the text one behind the other.
    std::shared_ptr<const void> owner;    ///< Keeps what the frames lie in.

    std::size_t packed_bytes() const {
        auto packed = std::size_t{0};
        for (auto frame : frames) {
            packed += frame.size();
        }
        return packed;
    }
    bool is_plausible() const { return size <= ratio_max * packed_bytes(); }
};

} // namespace sluice::event
