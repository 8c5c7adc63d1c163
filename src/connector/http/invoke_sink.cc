#include "connector/http/invoke_sink.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/utf8.h"

namespace sluice::connector::http {

namespace {

// As the service has it.
constexpr auto time_max = std::chrono::seconds{60};

event::Answer answer_of(Result<sluice::http::Response> response) {
    if (!response) {
        auto is_refused = response.error().code == Errc::InvalidInput;
        return event::failure(is_refused ? "forbidden_address" : "States.Http.Socket",
                              response.error().message);
    }
    if (response->status >= 200 && response->status < 300) {
        return {.result = answer_view(*response)};
    }
    return event::failure(fmt::format("States.Http.StatusCode.{}", response->status),
                          replace_invalid_utf8(response->body));
}

} // namespace

InvokeSink::~InvokeSink() {
    auto clients = std::array<std::unique_ptr<sluice::http::Client>, 2>{};
    auto left = std::map<std::uint64_t, Call>{};
    {
        auto lock = std::lock_guard{mutex_};
        clients = {std::move(guarded_), std::move(free_)};
        left = std::exchange(calls_, {});
    }
    for (auto& client : clients) {
        client.reset(); // Its last answers find nothing.
    }
    for (auto& [number, call] : left) {
        call.done(event::failure("cancelled", "the call was cancelled"));
    }
}

Result<const Connection*> InvokeSink::find(std::string_view space,
                                           const std::string& wanted) const {
    if (wanted.empty()) {
        return nullptr;
    }
    auto found = std::ranges::find(connections_, wanted, &Connection::name);
    auto is_seen = found != connections_.end() &&
                   (found->namespaces.empty() ||
                    std::ranges::find(found->namespaces, space) != found->namespaces.end());
    if (!is_seen) {
        return fail(Errc::NotFound, "Connection does not exist: {}", wanted);
    }
    return &*found;
}

sluice::http::Client& InvokeSink::client_for(const Connection* connection) {
    auto is_free = is_private_ || (connection != nullptr && connection->is_private);
    auto& client = is_free ? free_ : guarded_;
    if (!client) {
        client = sluice::http::Client::create(
            {.may_reach = is_free ? sluice::http::AddressPolicy{} : sluice::http::is_public_address,
             .ca_file = {}});
    }
    return *client;
}

void InvokeSink::deliver(event::Delivery delivery, Done done) {
    auto connection = find(delivery.space, connection_named(delivery.payload));
    if (!connection) {
        done(event::failure("Events.ConnectionResource.NotFound", connection.error().message));
        return;
    }
    auto made = invocation_of(delivery.payload, *connection);
    if (!made) {
        done(event::failure("States.Runtime", made.error().message));
        return;
    }
    auto lock = std::lock_guard{mutex_};
    auto number = ++last_;
    auto& client = client_for(*connection);
    auto timeout =
        delivery.timeout > Nanos{0} ? std::min<Nanos>(delivery.timeout, time_max) : Nanos{time_max};
    auto& call = calls_[number];
    call = {.client = &client, .done = std::move(done)};
    by_token_[delivery.token] = number;
    call.id = client.send({.url = std::move(made->url),
                           .request = std::move(made->request),
                           .timeout = timeout,
                           .on_body = {}},
                          [this, number](Result<sluice::http::Response> response) {
                              finish(number, answer_of(std::move(response)));
                          });
}

/// On a client's thread, which ends before this does.
void InvokeSink::finish(std::uint64_t number, event::Answer answer) {
    auto lock = std::unique_lock{mutex_};
    auto found = calls_.extract(number);
    std::erase_if(by_token_, [&](const auto& each) { return each.second == number; });
    lock.unlock();
    if (found) {
        found.mapped().done(std::move(answer));
    }
}

void InvokeSink::cancel(std::string_view token) {
    auto lock = std::lock_guard{mutex_};
    auto number = by_token_.find(token);
    auto found = number == by_token_.end() ? calls_.end() : calls_.find(number->second);
    if (found != calls_.end()) {
        found->second.client->cancel(found->second.id);
    }
}

} // namespace sluice::connector::http
