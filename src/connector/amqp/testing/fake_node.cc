#include "connector/amqp/testing/fake_node.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include "base/bytes.h"
#include "connector/amqp/internal/stream/frame_buffer.h"
#include "connector/amqp/testing/stream_bytes.h"

namespace sluice::connector::amqp::testing {

namespace {

using internal::stream::Frame;
using internal::stream::Key;
using internal::stream::Node;

constexpr auto response_bit = std::uint16_t{0x8000};

void write_string(Encoder& out, std::string_view text) {
    out.u16(static_cast<std::uint16_t>(text.size()));
    out.raw(text);
}

/// Answers a request: its correlation, that all is well, and what else there is to say.
std::string response(const Frame& frame, std::string_view rest = {}) {
    auto content = std::string{frame.content.substr(0, 4)};
    auto out = Encoder{content};
    out.u16(1);
    out.raw(rest);
    return frame_bytes(static_cast<std::uint16_t>(frame.key) | response_bit, content);
}

std::string tune() {
    auto content = std::string{};
    auto out = Encoder{content};
    out.u32(1 << 20);
    out.u32(60);
    return frame_bytes(static_cast<std::uint16_t>(Key::Tune), content);
}

std::string properties(const Node& node) {
    auto content = std::string{};
    auto out = Encoder{content};
    out.u32(2);
    write_string(out, "advertised_host");
    write_string(out, node.host);
    write_string(out, "advertised_port");
    write_string(out, std::to_string(node.port));
    return content;
}

std::string metadata(const Frame& frame, const Node& node) {
    auto content = std::string{frame.content.substr(0, 4)};
    auto out = Encoder{content};
    out.u32(1); // One node, whose reference is 0.
    out.u16(0);
    write_string(out, node.host);
    out.u32(node.port);
    out.u32(1); // One stream, which it leads.
    write_string(out, "stream");
    out.u16(1);
    out.u16(0);
    out.u32(0);
    return frame_bytes(static_cast<std::uint16_t>(Key::Metadata) | response_bit, content);
}

} // namespace

FakeNode::FakeNode() {
    advertised = {.host = "127.0.0.1", .port = port()};
    replica = advertised;
}

void FakeNode::start() {
    thread_ = std::thread{[this] { run(); }};
}

FakeNode::~FakeNode() {
    listener_.stop();
    if (auto open = connection_.load(); open >= 0) {
        ::shutdown(open, SHUT_RDWR);
    }
    if (thread_.joinable()) {
        thread_.join();
    }
}

void FakeNode::run() {
    while (true) {
        auto socket = listener_.accept();
        if (!socket.is_open()) {
            return;
        }
        connection_ = socket.raw();
        talk(socket.raw());
        connection_ = -1;
    }
}

void FakeNode::talk(int socket) {
    auto buffer = internal::stream::FrameBuffer{};
    while (true) {
        auto bytes = buffer.frame();
        if (!bytes) {
            return;
        }
        if (*bytes) {
            auto frame = internal::stream::read_frame(**bytes);
            auto said = frame ? answer(*frame) : std::string{};
            buffer.drop();
            ::send(socket, said.data(), said.size(), MSG_NOSIGNAL);
            continue;
        }
        auto room = buffer.room();
        auto size = ::recv(socket, room.data(), room.size(), 0);
        if (size <= 0) {
            return;
        }
        buffer.add(static_cast<std::size_t>(size));
    }
}

std::string FakeNode::answer(const Frame& frame) {
    using namespace std::string_view_literals;
    switch (frame.key) {
        case Key::PeerProperties: return response(frame, "\0\0\0\0"sv);
        case Key::SaslHandshake: return response(frame, "\0\0\0\x01\0\x05PLAIN"sv);
        case Key::SaslAuthenticate: return response(frame) + tune();
        case Key::Open: return response(frame, properties(advertised));
        case Key::Metadata: return metadata(frame, replica);
        case Key::Subscribe:
            ++subscriptions_;
            return response(frame) + frame_bytes(static_cast<std::uint16_t>(Key::Deliver),
                                                 std::string{frame.content.substr(4, 1)} + chunk);
        case Key::Unsubscribe:
        case Key::Close: return response(frame);
        default: return {};
    }
}

} // namespace sluice::connector::amqp::testing
