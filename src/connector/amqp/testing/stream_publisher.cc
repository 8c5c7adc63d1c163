#include "connector/amqp/testing/stream_publisher.h"

#include "base/bytes.h"
#include "connector/amqp/internal/stream/frame_buffer.h"
#include "connector/amqp/internal/stream/handshake.h"
#include "connector/amqp/testing/stream_bytes.h"
#include "reactor/byte_stream.h"

namespace sluice::connector::amqp::testing {

namespace {

using internal::stream::Frame;
using internal::stream::FrameBuffer;
using internal::stream::Handshake;

constexpr auto declare_publisher = std::uint16_t{0x01};
constexpr auto publish = std::uint16_t{0x02};
constexpr auto publish_confirm = std::uint16_t{0x03};

std::string declaration(std::string_view stream) {
    auto content = std::string{};
    auto out = Encoder{content};
    out.u32(100);
    out.u8(0);
    out.u16(0); // No reference.
    out.u16(static_cast<std::uint16_t>(stream.size()));
    out.raw(stream);
    return frame_bytes(declare_publisher, content);
}

std::string publication(const std::vector<std::string>& entries) {
    auto content = std::string{};
    auto out = Encoder{content};
    out.u8(0);
    out.u32(static_cast<std::uint32_t>(entries.size()));
    for (auto id = std::uint64_t{0}; id < entries.size(); ++id) {
        out.u64(id);
        out.raw(entries[id]);
    }
    return frame_bytes(publish, content);
}

/// Until this says that it has seen enough.
Result<void> read_until(reactor::ByteStream& stream, FrameBuffer& buffer, auto&& is_enough) {
    auto deadline = reactor::after(std::chrono::seconds{20});
    while (true) {
        auto bytes = TRY(buffer.frame());
        if (bytes) {
            auto frame = TRY(internal::stream::read_frame(*bytes));
            auto is_done = TRY(is_enough(frame));
            buffer.drop();
            if (is_done) {
                return {};
            }
            continue;
        }
        auto size = TRY(stream.read_some(buffer.room()));
        buffer.add(size);
        if (size == 0) {
            TRY(stream.wait(reactor::ByteStream::For::Reading, deadline));
        }
    }
}

} // namespace

Result<void> publish_entries(const Options& options, std::string_view stream,
                             const std::vector<std::string>& entries) {
    auto socket = TRY(reactor::ByteStream::connect(
        {.host = options.host, .port = options.effective_stream_port()},
        reactor::after(options.timeout)));
    auto buffer = FrameBuffer{};
    auto out = std::string{};
    auto handshake = Handshake{{.user = options.user,
                                .password = options.password,
                                .vhost = options.vhost,
                                .purpose = "test",
                                .heartbeat_seconds = 60}};
    handshake.begin(out);
    std::ignore = TRY(socket.write_some(out));
    TRY(read_until(socket, buffer, [&](const Frame& frame) -> Result<bool> {
        out.clear();
        auto is_in = TRY(handshake.take(frame, out));
        std::ignore = TRY(socket.write_some(out));
        return is_in;
    }));
    std::ignore = TRY(socket.write_some(declaration(stream) + publication(entries)));
    auto left = entries.size();
    return read_until(socket, buffer, [&](const Frame& frame) -> Result<bool> {
        if (static_cast<std::uint16_t>(frame.key) == publish_confirm) {
            auto in = Decoder{frame.content};
            std::ignore = TRY(in.u8());
            left -= std::min<std::size_t>(left, TRY(in.u32()));
        }
        return left == 0;
    });
}

} // namespace sluice::connector::amqp::testing
