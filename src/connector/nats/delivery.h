#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sluice::connector::nats {

/// What JetStream says of a message in the subject that acknowledgements go to.
struct Delivery {
    std::string_view consumer;         ///< `STREAM.CONSUMER`.
    std::uint64_t stream_number = 0;   ///< Its place in the stream.
    std::uint64_t consumer_number = 0; ///< Counts what the consumer has delivered, without gaps.
    std::uint64_t pending = 0;         ///< What the consumer still has behind it.
};

/// `$JS.ACK.STREAM.CONSUMER.attempt.stream.consumer.time.pending`, or the newer form with domain
/// and account before the stream. Nothing when it is none.
/// The text has to stay.
std::optional<Delivery> parse_delivery(std::string_view reply);

} // namespace sluice::connector::nats
