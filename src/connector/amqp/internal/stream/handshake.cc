#include "connector/amqp/internal/stream/handshake.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace sluice::connector::amqp::internal::stream {

namespace {

// One request at a time: its number is that of the step.
std::uint32_t correlation_of(auto step) {
    return static_cast<std::uint32_t>(step) + 1;
}

} // namespace

void Handshake::begin(std::string& out) {
    auto properties = std::array<std::pair<std::string_view, std::string_view>, 2>{
        {{"product", "Sluice"}, {"connection_name", settings_.purpose}}};
    CommandWriter{out}.peer_properties(correlation_of(Awaited::PeerProperties), properties);
    awaited_ = Awaited::PeerProperties;
}

Result<bool> Handshake::take(const Frame& frame, std::string& out) {
    constexpr auto keys = std::array{Key::PeerProperties, Key::SaslHandshake, Key::SaslAuthenticate,
                                     Key::Tune, Key::Open};
    if (frame.key == Key::Heartbeat) {
        return false;
    }
    auto key = keys[static_cast<std::size_t>(awaited_)];
    if (frame.key != key || frame.is_response != (key != Key::Tune)) {
        return fail(Errc::Unavailable, "command {:#04x} came while {:#04x} was expected",
                    static_cast<unsigned>(frame.key), static_cast<unsigned>(key));
    }
    auto writer = CommandWriter{out};
    if (awaited_ == Awaited::Tune) {
        TRY(take_tune(frame.content, writer));
        return false;
    }
    auto response = TRY(read_response(frame.content));
    if (response.code != ResponseCode::Ok) {
        return fail(Errc::Unavailable, "user {} cannot log in to virtual host {}: {}",
                    settings_.user, settings_.vhost, text_of(response.code));
    }
    switch (awaited_) {
        case Awaited::PeerProperties:
            awaited_ = Awaited::Mechanisms;
            writer.sasl_handshake(correlation_of(awaited_));
            return false;
        case Awaited::Mechanisms: TRY(take_mechanisms(response.content, writer)); return false;
        case Awaited::Authentication: awaited_ = Awaited::Tune; return false;
        default: TRY(take_node(response.content)); return true;
    }
}

Result<void> Handshake::take_mechanisms(std::string_view content, CommandWriter& out) {
    auto mechanisms = TRY(read_strings(content));
    if (std::ranges::find(mechanisms, "PLAIN") == mechanisms.end()) {
        return fail(Errc::Unavailable, "the broker does not take a password by PLAIN");
    }
    awaited_ = Awaited::Authentication;
    out.sasl_plain(correlation_of(awaited_), settings_.user, settings_.password);
    return {};
}

Result<void> Handshake::take_tune(std::string_view content, CommandWriter& out) {
    auto tuning = TRY(read_tune(content));
    tuning.heartbeat_seconds = settings_.heartbeat_seconds;
    out.tune(tuning);
    awaited_ = Awaited::Open;
    out.open(correlation_of(awaited_), settings_.vhost);
    return {};
}

Result<void> Handshake::take_node(std::string_view content) {
    auto node = Node{};
    for (auto& [name, value] : TRY(read_properties(content))) {
        if (name == "advertised_host") {
            node.host = std::move(value);
        } else if (name == "advertised_port") {
            std::from_chars(value.data(), value.data() + value.size(), node.port);
        }
    }
    if (!node.host.empty() && node.port != 0) {
        node_ = std::move(node);
    }
    return {};
}

} // namespace sluice::connector::amqp::internal::stream
