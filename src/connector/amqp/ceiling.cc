#include "connector/amqp/ceiling.h"

#include <chrono>

#include "connector/amqp/internal/binding.h"
#include "connector/amqp/internal/bytes.h"
#include "connector/amqp/internal/connection.h"
#include "connector/amqp/internal/failure.h"
#include "connector/amqp/internal/stream/chunk.h"
#include "connector/amqp/internal/stream/connection.h"

namespace sluice::connector::amqp {

namespace {

using Steady = std::chrono::steady_clock;

constexpr auto bare_channel = amqp_channel_t{1};
constexpr auto bare_prefetch = std::uint16_t{2000};
constexpr auto acknowledge_every = std::uint64_t{500};
constexpr auto confirm_every = std::uint64_t{1000};
constexpr auto silence_max = std::chrono::seconds{20};
constexpr auto bare_chunks = std::uint16_t{64};

/// Up to `events` messages; the body of the last is kept. Every frame is looked at once.
Result<double> read_bare(internal::Connection& connection, const std::string& queue,
                         std::uint64_t events, const internal::StreamStart* start,
                         std::string* body) {
    TRY(connection.open_channel(bare_channel));
    auto began = Steady::now();
    TRY(connection.consume(bare_channel, queue, "ceiling", bare_prefetch, start));
    auto count = std::uint64_t{0};
    auto acknowledged = std::uint64_t{0};
    auto left = std::uint64_t{0};
    auto frame = amqp_frame_t{};
    while (count < events) {
        if (!TRY(connection.next(frame, silence_max))) {
            return fail(Errc::NotFound, "queue {} holds {} events, expected {}", queue, count,
                        events);
        }
        if (frame.frame_type == AMQP_FRAME_METHOD) {
            if (frame.payload.method.id != AMQP_BASIC_DELIVER_METHOD) {
                return std::unexpected(internal::failure_of(frame.payload.method));
            }
            continue;
        }
        if (frame.frame_type == AMQP_FRAME_HEADER) {
            left = frame.payload.properties.body_size;
        } else if (frame.frame_type == AMQP_FRAME_BODY) {
            left -= frame.payload.body_fragment.len;
            if (body != nullptr) {
                *body += internal::view_of(frame.payload.body_fragment);
            }
        }
        if (left == 0) {
            connection.release(bare_channel);
            ++count;
            auto is_due = count - acknowledged >= acknowledge_every || count == events;
            if (is_due && body == nullptr) {
                acknowledged = count;
                TRY(connection.acknowledge(bare_channel, count));
            }
        }
    }
    auto seconds = std::chrono::duration<double>(Steady::now() - began).count();
    connection.close_channel(bare_channel);
    return static_cast<double>(events) / seconds;
}

/// The same by the stream protocol, from the beginning. Every message is looked at once.
Result<double> read_stream_bare(const Options& options, const std::string& queue,
                                std::uint64_t events) {
    auto connection = TRY(internal::stream::Connection::open(
        options, {.host = options.host, .port = options.effective_stream_port()},
        "sluice ceiling"));
    auto began = Steady::now();
    connection.writer().subscribe(connection.next_correlation(),
                                  {.id = 0, .stream = queue, .credit = bare_chunks});
    TRY(connection.send());
    auto entry = internal::stream::Entry{};
    for (auto count = std::uint64_t{0}; count < events; connection.drop()) {
        auto frame = TRY(connection.await(Steady::now() + silence_max));
        if (frame.key != internal::stream::Key::Deliver) {
            continue;
        }
        auto delivery = TRY(internal::stream::read_delivery(frame.content));
        auto chunk = TRY(internal::stream::Chunk::parse(delivery.chunk));
        while (TRY(chunk.next(entry))) {
            count += entry.records;
        }
        connection.writer().credit(0, 1);
        TRY(connection.send());
    }
    auto seconds = std::chrono::duration<double>(Steady::now() - began).count();
    connection.close();
    return static_cast<double>(events) / seconds;
}

/// By the stream protocol where the broker speaks it, as it is read then.
Result<double> measure_position(const Options& options, const std::string& queue,
                                std::uint64_t events) {
    if (options.effective_stream_port() != 0) {
        if (auto rate = read_stream_bare(options, queue, events); rate) {
            return rate;
        }
    }
    auto first = internal::StreamStart{};
    auto connection = TRY(internal::Connection::open(options, "sluice ceiling"));
    return read_bare(connection, queue, events, &first, nullptr);
}

/// Waits until all up to this tag are confirmed.
Result<void> await_confirms(internal::Connection& connection, std::uint64_t tag) {
    auto frame = amqp_frame_t{};
    for (auto confirmed = std::uint64_t{0}; confirmed < tag;) {
        if (!TRY(connection.next(frame, silence_max))) {
            return fail(Errc::Unavailable, "the broker does not confirm what was published");
        }
        if (frame.frame_type == AMQP_FRAME_METHOD &&
            frame.payload.method.id == AMQP_BASIC_ACK_METHOD) {
            // One by one they may come out of order, but the last of a batch is waited for alone.
            const auto* ack = static_cast<const amqp_basic_ack_t*>(frame.payload.method.decoded);
            confirmed = std::max(confirmed, ack->delivery_tag);
        }
        connection.release(frame.channel);
    }
    return {};
}

Result<void> fill(internal::Connection& connection, const std::string& queue, std::string_view body,
                  std::uint64_t events) {
    TRY(connection.open_channel(bare_channel));
    TRY(connection.select_confirms(bare_channel));
    auto writer = internal::MessageWriter{};
    auto properties = writer.structured({});
    for (auto sent = std::uint64_t{1}; sent <= events; ++sent) {
        TRY(connection.publish(bare_channel, {}, queue, properties, body));
        if (sent % confirm_every == 0 || sent == events) {
            TRY(await_confirms(connection, sent));
        }
    }
    connection.close_channel(bare_channel);
    return {};
}

/// A stream has no groups: a quorum queue with as many of its events stands for it.
Result<double> measure_twin(const Options& options, const std::string& queue, std::string_view body,
                            std::uint64_t events) {
    auto twin = options;
    twin.retention = {};
    twin.type = QueueType::Quorum;
    auto name = queue + ".ceiling";
    auto connection = TRY(internal::Connection::open(options, "sluice ceiling"));
    TRY(connection.open_channel(bare_channel));
    TRY(connection.declare_queue(bare_channel, name, twin));
    connection.close_channel(bare_channel);
    auto filled = fill(connection, name, body, events);
    auto rate = Result<double>{0};
    if (filled) {
        rate = read_bare(connection, name, events, nullptr, nullptr);
    }
    TRY(connection.open_channel(bare_channel));
    TRY(connection.delete_queue(bare_channel, name));
    TRY(std::move(filled));
    return rate;
}

} // namespace

Result<event::Ceiling> measure(const Options& options, const std::string& queue,
                               std::uint64_t events) {
    auto ceiling = event::Ceiling{};
    auto connection = TRY(internal::Connection::open(options, "sluice ceiling"));
    if (options.type != QueueType::Stream) {
        // As old as what is compared with it: what was written just now is handed out faster.
        ceiling.group_events_per_second =
            TRY(read_bare(connection, queue, events, nullptr, nullptr));
        return ceiling;
    }
    auto first = internal::StreamStart{};
    auto body = std::string{};
    std::ignore = TRY(read_bare(connection, queue, 1, &first, &body));
    ceiling.position_events_per_second = TRY(measure_position(options, queue, events));
    ceiling.group_events_per_second = TRY(measure_twin(options, queue, body, events));
    return ceiling;
}

} // namespace sluice::connector::amqp
