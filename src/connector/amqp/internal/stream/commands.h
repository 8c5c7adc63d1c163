#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "connector/amqp/internal/stream_start.h"

namespace sluice::connector::amqp::internal::stream {

/// The commands of RabbitMQ's stream protocol that a reader needs. Bytes in, structures out; names
/// are the protocol's.
enum class Key : std::uint16_t {
    Subscribe = 0x07,
    Deliver = 0x08,
    Credit = 0x09,
    Unsubscribe = 0x0C,
    Metadata = 0x0F,
    MetadataUpdate = 0x10,
    PeerProperties = 0x11,
    SaslHandshake = 0x12,
    SaslAuthenticate = 0x13,
    Tune = 0x14,
    Open = 0x15,
    Close = 0x16,
    Heartbeat = 0x17,
};

enum class ResponseCode : std::uint16_t {
    Ok = 0x01,
    StreamDoesNotExist = 0x02,
    StreamNotAvailable = 0x06,
    AuthenticationFailure = 0x08,
    VirtualHostAccessFailure = 0x0C,
    AccessRefused = 0x10,
    PreconditionFailed = 0x11,
};

/// For people, in the protocol's words.
std::string text_of(ResponseCode code);
/// What a refusal is to us. Unavailable: it may pass.
Errc meaning_of(ResponseCode code);

struct Frame {
    Key key{};
    bool is_response = false;
    std::string_view content; ///< What follows key and version.
};

struct Response {
    std::uint32_t correlation = 0;
    ResponseCode code{};
    std::string_view content;
};

struct Tuning {
    std::uint32_t frame_bytes_max = 0;   ///< 0: no limit.
    std::uint32_t heartbeat_seconds = 0; ///< 0: none.
};

/// Where a node says that it can be reached.
struct Node {
    std::string host;
    std::uint32_t port = 0;

    bool operator==(const Node&) const = default;
};

/// Where a stream lies.
struct StreamPlaces {
    ResponseCode code{};
    std::optional<Node> leader; ///< None while it is not known.
    std::vector<Node> replicas;
};

struct Delivery {
    std::uint8_t subscription = 0;
    std::string_view chunk;
};

/// Something became of a stream, such as that it was deleted: its subscriptions are gone.
struct MetadataUpdate {
    ResponseCode code{};
    std::string_view stream;
};

struct CloseRequest {
    std::uint32_t correlation = 0;
    ResponseCode code{};
    std::string_view reason;
};

using Properties = std::vector<std::pair<std::string, std::string>>;

// Each fails with Corrupt when the bytes are not what they should be. Views are of the bytes.
/// Of a whole frame without its size.
Result<Frame> read_frame(std::string_view bytes);
Result<Response> read_response(std::string_view content);
Result<Properties> read_properties(std::string_view content);
Result<std::vector<std::string_view>> read_strings(std::string_view content);
Result<Tuning> read_tune(std::string_view content);
/// Of an answer that says of one stream; its first four bytes are the correlation.
Result<StreamPlaces> read_metadata(std::string_view content);
Result<Delivery> read_delivery(std::string_view content);
Result<MetadataUpdate> read_metadata_update(std::string_view content);
Result<CloseRequest> read_close(std::string_view content);

struct Subscription {
    std::uint8_t id = 0;
    std::string_view stream;
    StreamStart start{};
    std::uint16_t credit = 0; ///< Chunks that may be sent.
};

/// Puts commands behind one another, each a whole frame. Requests have a correlation.
class CommandWriter {
public:
    explicit CommandWriter(std::string& out) : out_(out) {}

    void peer_properties(std::uint32_t correlation,
                         std::span<const std::pair<std::string_view, std::string_view>> properties);
    void sasl_handshake(std::uint32_t correlation);
    void sasl_plain(std::uint32_t correlation, std::string_view user, std::string_view password);
    void tune(const Tuning& tuning);
    void open(std::uint32_t correlation, std::string_view vhost);
    void metadata(std::uint32_t correlation, std::string_view stream);
    void subscribe(std::uint32_t correlation, const Subscription& subscription);
    void credit(std::uint8_t subscription, std::uint16_t chunks);
    void unsubscribe(std::uint32_t correlation, std::uint8_t subscription);
    void close(std::uint32_t correlation);
    void close_response(std::uint32_t correlation);
    void heartbeat();

private:
    void frame(std::uint16_t key, std::string_view content);
    void request(Key key, std::uint32_t correlation, std::string_view content);

    std::string& out_;
};

} // namespace sluice::connector::amqp::internal::stream
