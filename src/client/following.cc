#include <algorithm>

#include "client/client.h"

namespace sluice::client {

namespace {

constexpr auto problem_bytes_max = std::size_t{64} << 10U;

} // namespace

Answer<void> Client::follow(std::string_view path, const OnServerSentEvent& on_event,
                            const Query& query) {
    auto parser = SseParser{};
    auto retry = Retry{options_.retry, Repeat::Safe, ++seed_};
    auto count_and_tell = [&](const ServerSentEvent& event) {
        retry = Retry{options_.retry, Repeat::Safe, ++seed_};
        return on_event(event);
    };
    while (true) {
        auto request = request_of(http::Method::Get, path, query, {});
        request.headers.add("Accept", "text/event-stream");
        if (!parser.last_id().empty()) {
            request.headers.add("Last-Event-ID", parser.last_id());
        }
        auto end = TRY(follow_once(request, parser, count_and_tell));
        if (!end) {
            return {};
        }
        auto pause = retry.pause_after(*end);
        if (!pause && *end) {
            return std::unexpected(problem_of(**end));
        }
        if (!pause) {
            return std::unexpected(unreachable(end->error()));
        }
        options_.pause(std::max(*pause, parser.retry().value_or(Nanos{0})));
    }
}

Answer<std::optional<Result<http::Response>>> Client::follow_once(
    const http::Request& request, SseParser& parser, const OnServerSentEvent& on_event) {
    parser.restart();
    auto head = std::string{};
    auto fed = Result<bool>{true};
    auto end = transport_->stream(request, options_.idle_time_max, [&](std::string_view bytes) {
        // What is no stream may be a problem document.
        head += bytes.substr(0, problem_bytes_max - std::min(problem_bytes_max, head.size()));
        fed = parser.feed(bytes, on_event);
        return fed && *fed;
    });
    if (!TRY(std::move(fed))) {
        return std::nullopt;
    }
    if (!end && end.error().code == Errc::LimitExceeded) {
        end = fail(Errc::Io, "{}", end.error().message);
    } else if (end && end->status < 300) {
        end = fail(Errc::Io, "the stream ended");
    } else if (end && !head.empty()) {
        end->body = std::move(head);
    }
    return end;
}

} // namespace sluice::client
