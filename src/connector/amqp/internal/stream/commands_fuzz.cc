#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>

#include "connector/amqp/internal/stream/frame_buffer.h"
#include "connector/amqp/internal/stream/handshake.h"

namespace {

using namespace sluice::connector::amqp::internal::stream;

/// Each of what may be in a frame, whatever its key says.
void read_all(const Frame& frame) {
    std::ignore = read_response(frame.content);
    std::ignore = read_properties(frame.content);
    std::ignore = read_strings(frame.content);
    std::ignore = read_tune(frame.content);
    std::ignore = read_metadata(frame.content);
    std::ignore = read_delivery(frame.content);
    std::ignore = read_metadata_update(frame.content);
    std::ignore = read_close(frame.content);
}

} // namespace

// What comes over a socket, a few bytes at a time: frames, and the commands in them.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    auto rest = std::string_view{reinterpret_cast<const char*>(data), size};
    auto buffer = FrameBuffer{};
    auto handshake = Handshake{{.user = "user", .password = "password", .vhost = "/"}};
    auto out = std::string{};
    handshake.begin(out);
    while (true) {
        auto bytes = buffer.frame();
        if (!bytes || (!*bytes && rest.empty())) {
            return 0;
        }
        if (*bytes) {
            if (auto frame = read_frame(**bytes); frame) {
                read_all(*frame);
                std::ignore = handshake.take(*frame, out);
            }
            buffer.drop();
            continue;
        }
        auto room = buffer.room();
        auto part = rest.substr(0, std::min<std::size_t>(room.size(), 7));
        std::ranges::copy(part, room.begin());
        buffer.add(part.size());
        rest.remove_prefix(part.size());
    }
}
