#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "event/codec.h"
#include "value/value.h"

namespace sluice::connector::amqp {

enum class QueueType : std::uint8_t { Stream, Quorum, Classic };

std::string_view to_string(QueueType type);

/// How events are written; both are read.
enum class Mode : std::uint8_t { Structured, Binary };

struct Tls {
    bool is_on = false;
    std::string ca_file; ///< Empty: those that the system trusts.
    std::string certificate_file;
    std::string key_file;
    bool is_verified = true; ///< Certificate and host name of the broker.

    bool operator==(const Tls&) const = default;
};

/// How long a stream keeps what was written; empty and 0: for good.
struct Retention {
    std::string max_age; ///< As the broker reads it: `7D`, `12h`.
    std::uint64_t max_bytes = 0;
    std::uint64_t segment_bytes = 0; ///< What is dropped at a time.

    bool operator==(const Retention&) const = default;
};

/// A broker, and what is wanted of it: as a bus, as a source of its own, as a sink.
struct Options {
    std::string host = "127.0.0.1";
    std::uint16_t port = 5672;
    /// Of the plugin that hands out streams, at the same host. 0: they are read by AMQP.
    std::optional<std::uint16_t> stream_port{};
    std::string user = "guest";
    std::string password = "guest";
    std::string vhost = "/";
    Tls tls{};
    Nanos heartbeat = std::chrono::seconds{10}; ///< Twice this long silent: the connection is lost.
    Nanos timeout = std::chrono::seconds{5};    ///< For a connection to be made.

    QueueType type = QueueType::Stream;
    std::string prefix = "sluice"; ///< Of the bus's queues.
    bool is_single_active = false; ///< Of several readers of a queue just one gets its messages.
    Retention retention{};

    std::string queue;        ///< That a source reads.
    bool is_declared = false; ///< The source makes its queue, and binds it to the exchange if any.
    std::uint16_t prefetch = 0; ///< Messages on their way to us, per queue; 0: as suits its type.

    std::string exchange; ///< Empty: the default one, whose routing keys are names of queues.
    std::string routing_key;
    Mode mode = Mode::Structured;
    std::uint32_t window = 4096;              ///< Messages sent and not yet confirmed.
    Nanos give_up = std::chrono::seconds{30}; ///< What is not confirmed by then has failed.
    /// For the first message to a queue to be confirmed: beyond it the connection is made anew.
    Nanos first_confirmation = std::chrono::seconds{5};

    event::Limits limits{};

    std::uint16_t effective_prefetch() const;
    std::uint16_t effective_stream_port() const;
    /// For people: without user and password.
    std::string place() const;
};

/// `amqp://user:password@host:port/vhost?parameter=value`, or `amqps://`, of a bus. The README has
/// the parameters. Fails with InvalidInput and never repeats the password.
Result<Options> parse_url(std::string_view url);
/// What people write to add a source or a sink: the README has the members.
Result<Options> read_source_form(const Value& form);
Result<Options> read_sink_form(const Value& form);

} // namespace sluice::connector::amqp
