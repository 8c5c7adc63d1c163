#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "client/listing.h"
#include "client/problem.h"
#include "client/retry.h"
#include "client/sse_parser.h"
#include "client/transport.h"
#include "event/event.h"
#include "value/value.h"

namespace sluice::client {

struct ClientOptions {
    std::string token;
    std::string space;                        ///< The namespace; empty: the token's, or `default`.
    Nanos timeout = std::chrono::seconds{30}; ///< Of a request; zero: none.
    Nanos idle_time_max = std::chrono::seconds{60}; ///< Of a live stream: then it is begun anew.
    RetryOptions retry;
    /// Sleeps, unless a test has something better to do.
    std::function<void(Nanos)> pause;
};

using Query = std::vector<std::pair<std::string, std::string>>;

/// `/v1/runs/a%2Fb` of `v1`, `runs`, `a/b`.
std::string path_of(std::initializer_list<std::string_view> segments);

struct StartRequest {
    std::string id; ///< The same id again is the same run.
    std::string definition;
    std::optional<Value> input;
    Value labels; ///< A map or null.
    std::int64_t priority = 0;
};

/// Which runs to list; what is empty does not matter.
struct RunFilter {
    std::string status;
    std::string definition;
    std::string label;         ///< `key=value`
    std::string started_after; ///< Then or later, as RFC 3339 has times.
    std::string started_before;
    std::string ended_after;
    std::string ended_before;
    bool is_standing = false; ///< Those that runs share instead.
    std::size_t page = 100;   ///< Runs of a page.
};

/// The API of a server as calls that block. What is safe to repeat is repeated when the server
/// cannot be reached or asks to come back later.
class Client {
public:
    /// Connects with the first request. Fails as open_socket_transport does.
    static Result<Client> connect(const SocketOptions& socket, ClientOptions options = {});
    Client(std::unique_ptr<Transport> transport, ClientOptions options);

    /// Where it asks.
    const std::string& server() const { return transport_->name(); }

    /// Any request of the API. The answer's JSON, null when it has none.
    Answer<Value> get(std::string_view path, const Query& query = {});
    /// What a GET answers, as it came.
    Answer<std::string> fetch(std::string_view path, const Query& query = {});
    Answer<Value> post(std::string_view path, const Value& body = {}, const Query& query = {},
                       Repeat repeat = Repeat::Unsafe);
    Answer<Value> put(std::string_view path, const Value& body, const Query& query = {});
    Answer<Value> patch(std::string_view path, const Value& body);
    Answer<Value> remove(std::string_view path, const Query& query = {});
    /// A list that pages by cursor. The client outlives it, and stays where it is.
    Listing list(std::string path, std::string member, Query query = {});
    /// Live, until `on_event` has enough. When the stream breaks off it goes on behind the last
    /// event; fails when it cannot be begun again.
    Answer<void> follow(std::string_view path, const OnServerSentEvent& on_event,
                        const Query& query = {});

    /// The definition as its author wrote it. Of one with mistakes the problem has `findings`.
    Answer<Value> deploy(std::string_view source);
    Answer<Value> start(const StartRequest& request);
    /// The same, and waits for its end for so long, or without bound. `status` is `running` when
    /// the time is over.
    Answer<Value> start_and_wait(const StartRequest& request, std::optional<Nanos> at_most);
    Listing runs(const RunFilter& filter);
    /// One page of them: `{runs, cursor}`.
    Answer<Value> page_of_runs(const RunFilter& filter, const std::string& cursor);
    /// Cancels, terminates or retries all runs that the filter finds: how many, and which would
    /// be where it is only tried.
    Answer<Value> change_runs(std::string_view name, const RunFilter& filter, Query more);
    Answer<Value> run(std::string_view id);
    /// `cancel`, `terminate`, `pause`, `resume`, `reopen`: what a run is told.
    Answer<Value> command(std::string_view run, std::string_view name, const Value& body = {});
    /// In batches, each durable when it is answered; those before a problem are taken. The reply
    /// of a trigger, null if none gave one. Without a run, each names its own.
    Answer<Value> send(std::span<const Event> events, std::string_view run = {});

private:
    struct Content {
        std::string type;
        std::string body;
    };

    Answer<Value> ask(http::Method method, std::string_view path, const Query& query,
                      Content content, Repeat repeat, Nanos timeout);
    http::Request request_of(http::Method method, std::string_view path, const Query& query,
                             Content content) const;
    Answer<http::Response> exchange(const http::Request& request, Repeat repeat, Nanos timeout);
    /// One connection of a live stream; its end if it was not enough.
    Answer<std::optional<Result<http::Response>>> follow_once(const http::Request& request,
                                                              SseParser& parser,
                                                              const OnServerSentEvent& on_event);
    Problem unreachable(const Error& error) const;

    std::unique_ptr<Transport> transport_;
    ClientOptions options_;
    std::uint64_t seed_ = 0;
};

} // namespace sluice::client
