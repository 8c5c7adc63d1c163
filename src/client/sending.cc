#include <algorithm>

#include "client/client.h"
#include "event/codec.h"

namespace sluice::client {

namespace {

// Well within what a server takes in one request.
constexpr auto batch_bytes_max = std::size_t{2} << 20U;
constexpr auto batch_events_max = std::size_t{1'000};

std::size_t fitting(std::span<const Event> events) {
    auto bytes = std::size_t{0};
    auto count = std::size_t{0};
    while (count < std::min(events.size(), batch_events_max)) {
        bytes += events[count].json().size() + 1;
        if (count > 0 && bytes > batch_bytes_max) {
            break;
        }
        ++count;
    }
    return count;
}

} // namespace

Answer<Value> Client::send(std::span<const Event> events, std::string_view run) {
    auto path = run.empty() ? std::string{"/events"} : path_of({"v1", "runs", run, "events"});
    auto reply = Value{};
    while (!events.empty()) {
        auto batch = events.first(fitting(events));
        auto content =
            batch.size() == 1
                ? Content{"application/cloudevents+json", std::string{batch[0].json()}}
                : Content{"application/cloudevents-batch+json", event::to_batch_json(batch)};
        // Sent twice, an event is known by its source and id.
        auto answered = TRY(
            ask(http::Method::Post, path, {}, std::move(content), Repeat::Safe, options_.timeout));
        reply = answered.is_null() ? reply : answered;
        events = events.subspan(batch.size());
    }
    return reply;
}

} // namespace sluice::client
