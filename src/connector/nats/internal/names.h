#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace sluice::connector::nats::internal {

/// The stream of a partition: `sluice.12`, a subject of the bus, lies in `SLUICE_12`. Anything
/// without a dot is a stream's own name, which cannot have one.
inline std::string stream_of(std::string_view partition) {
    auto stream = std::string{partition};
    if (stream.contains('.')) {
        std::ranges::transform(stream, stream.begin(), [](char letter) {
            auto is_small = letter >= 'a' && letter <= 'z';
            return letter == '.' ? '_' : is_small ? static_cast<char>(letter - 'a' + 'A') : letter;
        });
    }
    return stream;
}

} // namespace sluice::connector::nats::internal
