#include "connector/amqp/internal/stream/commands.h"

#include <map>

#include <fmt/format.h>

#include "base/bytes.h"

namespace sluice::connector::amqp::internal::stream {

namespace {

constexpr auto response_bit = std::uint16_t{0x8000};
constexpr auto version = std::uint16_t{1};
// The closing code of those who are done.
constexpr auto closing_code = std::uint16_t{1};

/// A string of the protocol; one that is null is empty here.
Result<std::string_view> read_string(Decoder& in) {
    auto size = TRY(in.u16());
    return size == 0xFFFF ? Result<std::string_view>{std::string_view{}} : in.raw(size);
}

Result<ResponseCode> read_code(Decoder& in) {
    return static_cast<ResponseCode>(TRY(in.u16()));
}

/// Whoever names something longer than this was refused when the options were read.
void write_string(Encoder& out, std::string_view text) {
    text = text.substr(0, 0x7FFF);
    out.u16(static_cast<std::uint16_t>(text.size()));
    out.raw(text);
}

using Nodes = std::map<std::uint16_t, Node>;

Result<Nodes> read_nodes(Decoder& in) {
    auto nodes = Nodes{};
    for (auto left = TRY(in.u32()); left > 0; --left) {
        auto reference = TRY(in.u16());
        auto host = TRY(read_string(in));
        auto port = TRY(in.u32());
        nodes.insert_or_assign(reference, Node{.host = std::string{host}, .port = port});
    }
    return nodes;
}

std::optional<Node> node_in(const Nodes& nodes, std::uint16_t reference) {
    auto found = nodes.find(reference);
    return found == nodes.end() ? std::nullopt : std::optional{found->second};
}

} // namespace

std::string text_of(ResponseCode code) {
    switch (code) {
        case ResponseCode::Ok: return "OK";
        case ResponseCode::StreamDoesNotExist: return "stream does not exist";
        case ResponseCode::StreamNotAvailable: return "stream not available";
        case ResponseCode::AuthenticationFailure: return "authentication failure";
        case ResponseCode::VirtualHostAccessFailure: return "virtual host access failure";
        case ResponseCode::AccessRefused: return "access refused";
        case ResponseCode::PreconditionFailed: return "precondition failed";
    }
    return fmt::format("response code {:#04x}", static_cast<unsigned>(code));
}

Errc meaning_of(ResponseCode code) {
    switch (code) {
        case ResponseCode::StreamDoesNotExist: return Errc::NotFound;
        case ResponseCode::AccessRefused: return Errc::InvalidInput;
        case ResponseCode::PreconditionFailed: return Errc::Conflict;
        default: return Errc::Unavailable;
    }
}

Result<Frame> read_frame(std::string_view bytes) {
    auto in = Decoder{bytes};
    auto key = TRY(in.u16());
    if (auto found = TRY(in.u16()); found != version) {
        return fail(Errc::Corrupt, "command {:#06x} has version {}, expected {}", key, found,
                    version);
    }
    return Frame{.key = static_cast<Key>(key & ~response_bit),
                 .is_response = (key & response_bit) != 0,
                 .content = in.rest()};
}

Result<Response> read_response(std::string_view content) {
    auto in = Decoder{content};
    auto response = Response{};
    response.correlation = TRY(in.u32());
    response.code = TRY(read_code(in));
    response.content = in.rest();
    return response;
}

Result<Properties> read_properties(std::string_view content) {
    auto in = Decoder{content};
    auto properties = Properties{};
    for (auto left = TRY(in.u32()); left > 0; --left) {
        auto name = TRY(read_string(in));
        auto value = TRY(read_string(in));
        properties.emplace_back(name, value);
    }
    return properties;
}

Result<std::vector<std::string_view>> read_strings(std::string_view content) {
    auto in = Decoder{content};
    auto strings = std::vector<std::string_view>{};
    for (auto left = TRY(in.u32()); left > 0; --left) {
        strings.push_back(TRY(read_string(in)));
    }
    return strings;
}

Result<Tuning> read_tune(std::string_view content) {
    auto in = Decoder{content};
    auto tuning = Tuning{};
    tuning.frame_bytes_max = TRY(in.u32());
    tuning.heartbeat_seconds = TRY(in.u32());
    return tuning;
}

Result<StreamPlaces> read_metadata(std::string_view content) {
    auto in = Decoder{content};
    std::ignore = TRY(in.u32());
    auto nodes = TRY(read_nodes(in));
    if (auto count = TRY(in.u32()); count != 1) {
        return fail(Errc::Corrupt, "metadata of {} streams, expected those of one", count);
    }
    std::ignore = TRY(read_string(in));
    auto places = StreamPlaces{};
    places.code = TRY(read_code(in));
    places.leader = node_in(nodes, TRY(in.u16()));
    for (auto left = TRY(in.u32()); left > 0; --left) {
        if (auto node = node_in(nodes, TRY(in.u16())); node) {
            places.replicas.push_back(*std::move(node));
        }
    }
    return places;
}

Result<Delivery> read_delivery(std::string_view content) {
    auto in = Decoder{content};
    auto subscription = TRY(in.u8());
    return Delivery{.subscription = subscription, .chunk = in.rest()};
}

Result<MetadataUpdate> read_metadata_update(std::string_view content) {
    auto in = Decoder{content};
    auto code = TRY(read_code(in));
    return MetadataUpdate{.code = code, .stream = TRY(read_string(in))};
}

Result<CloseRequest> read_close(std::string_view content) {
    auto in = Decoder{content};
    auto request = CloseRequest{};
    request.correlation = TRY(in.u32());
    request.code = TRY(read_code(in));
    request.reason = TRY(read_string(in));
    return request;
}

void CommandWriter::frame(std::uint16_t key, std::string_view content) {
    auto out = Encoder{out_};
    out.u32(static_cast<std::uint32_t>(content.size() + 2 * sizeof(std::uint16_t)));
    out.u16(key);
    out.u16(version);
    out.raw(content);
}

void CommandWriter::request(Key key, std::uint32_t correlation, std::string_view content) {
    auto whole = std::string{};
    auto out = Encoder{whole};
    out.u32(correlation);
    out.raw(content);
    frame(static_cast<std::uint16_t>(key), whole);
}

void CommandWriter::peer_properties(
    std::uint32_t correlation,
    std::span<const std::pair<std::string_view, std::string_view>> properties) {
    auto content = std::string{};
    auto out = Encoder{content};
    out.u32(static_cast<std::uint32_t>(properties.size()));
    for (const auto& [name, value] : properties) {
        write_string(out, name);
        write_string(out, value);
    }
    request(Key::PeerProperties, correlation, content);
}

void CommandWriter::sasl_handshake(std::uint32_t correlation) {
    request(Key::SaslHandshake, correlation, {});
}

void CommandWriter::sasl_plain(std::uint32_t correlation, std::string_view user,
                               std::string_view password) {
    auto content = std::string{};
    auto out = Encoder{content};
    write_string(out, "PLAIN");
    // RFC 4616: an authorization identity, which is left empty, the user, the password.
    out.u32(static_cast<std::uint32_t>(user.size() + password.size() + 2));
    out.u8(0);
    out.raw(user);
    out.u8(0);
    out.raw(password);
    request(Key::SaslAuthenticate, correlation, content);
}

void CommandWriter::tune(const Tuning& tuning) {
    auto content = std::string{};
    auto out = Encoder{content};
    out.u32(tuning.frame_bytes_max);
    out.u32(tuning.heartbeat_seconds);
    frame(static_cast<std::uint16_t>(Key::Tune), content);
}

void CommandWriter::open(std::uint32_t correlation, std::string_view vhost) {
    auto content = std::string{};
    auto out = Encoder{content};
    write_string(out, vhost);
    request(Key::Open, correlation, content);
}

void CommandWriter::metadata(std::uint32_t correlation, std::string_view stream) {
    auto content = std::string{};
    auto out = Encoder{content};
    out.u32(1);
    write_string(out, stream);
    request(Key::Metadata, correlation, content);
}

void CommandWriter::subscribe(std::uint32_t correlation, const Subscription& subscription) {
    auto content = std::string{};
    auto out = Encoder{content};
    out.u8(subscription.id);
    write_string(out, subscription.stream);
    // The protocol's types of offsets are those of a start, from 1 on.
    out.u16(static_cast<std::uint16_t>(static_cast<unsigned>(subscription.start.at) + 1));
    if (subscription.start.at == StreamStart::At::Offset) {
        out.u64(subscription.start.offset);
    }
    out.u16(subscription.credit);
    out.u32(0); // No properties.
    request(Key::Subscribe, correlation, content);
}

void CommandWriter::credit(std::uint8_t subscription, std::uint16_t chunks) {
    auto content = std::string{};
    auto out = Encoder{content};
    out.u8(subscription);
    out.u16(chunks);
    frame(static_cast<std::uint16_t>(Key::Credit), content);
}

void CommandWriter::unsubscribe(std::uint32_t correlation, std::uint8_t subscription) {
    auto content = std::string{static_cast<char>(subscription)};
    request(Key::Unsubscribe, correlation, content);
}

void CommandWriter::close(std::uint32_t correlation) {
    auto content = std::string{};
    auto out = Encoder{content};
    out.u16(closing_code);
    write_string(out, "OK");
    request(Key::Close, correlation, content);
}

void CommandWriter::close_response(std::uint32_t correlation) {
    auto content = std::string{};
    auto out = Encoder{content};
    out.u32(correlation);
    out.u16(static_cast<std::uint16_t>(ResponseCode::Ok));
    frame(static_cast<std::uint16_t>(Key::Close) | response_bit, content);
}

void CommandWriter::heartbeat() {
    frame(static_cast<std::uint16_t>(Key::Heartbeat), {});
}

} // namespace sluice::connector::amqp::internal::stream
