#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "connector/amqp/internal/stream/commands.h"

namespace sluice::connector::amqp::internal::stream {

/// Gets in: who we are, user and password, sizes and heartbeats, the virtual host. Commands in,
/// commands out.
class Handshake {
public:
    struct Settings {
        std::string user;
        std::string password;
        std::string vhost;
        std::string purpose; ///< What operators see in the broker's list of connections.
        std::uint32_t heartbeat_seconds = 0;
    };

    explicit Handshake(Settings settings) : settings_(std::move(settings)) {}

    void begin(std::string& out);
    /// Answers a command; true when we are in. Errors never show the password.
    Result<bool> take(const Frame& frame, std::string& out);

    /// Where the node says that it is, once we are in; nothing when it does not say.
    const std::optional<Node>& node() const { return node_; }

private:
    enum class Awaited : std::uint8_t { PeerProperties, Mechanisms, Authentication, Tune, Open };

    Result<void> take_mechanisms(std::string_view content, CommandWriter& out);
    Result<void> take_tune(std::string_view content, CommandWriter& out);
    Result<void> take_node(std::string_view content);

    Settings settings_;
    Awaited awaited_ = Awaited::PeerProperties;
    std::optional<Node> node_;
};

} // namespace sluice::connector::amqp::internal::stream
