#include "connector/redis/internal/link.h"

#include <algorithm>
#include <thread>

#include "base/clock.h"

namespace sluice::connector::redis::internal {

Link::Link(resp::Options options, observe::Diagnostics& diagnostics)
    : options_(std::move(options)),
      diagnostics_(diagnostics),
      backoff_(static_cast<std::uint64_t>(SystemClock{}.wall().time_since_epoch().count()), {}) {}

Result<resp::Client*> Link::get(Nanos wait) {
    if (client_) {
        return &*client_;
    }
    auto early = not_before_ - SystemClock{}.steady();
    if (early > Nanos{0}) {
        std::this_thread::sleep_for(std::min(early, wait));
        if (early > wait) {
            return nullptr;
        }
        wait -= early;
    }
    auto options = options_;
    options.connect_limit =
        std::clamp<Nanos>(wait, std::chrono::milliseconds{50}, options_.connect_limit);
    auto client = resp::Client::connect(options);
    if (client) {
        // A server that still loads would refuse the first of many commands and take the last.
        if (auto ready = client->call("PING"); !ready) {
            client = std::unexpected(std::move(ready).error());
        }
    }
    if (!client) {
        if (client.error().code != Errc::Unavailable) {
            return std::unexpected(std::move(client).error());
        }
        lose(client.error());
        return nullptr;
    }
    if (!trouble_.empty()) {
        diagnostics_.info("redis is back", {{"server", options_.address()}});
    }
    trouble_.clear();
    backoff_.reset();
    client_ = std::move(*client);
    return &*client_;
}

void Link::lose(const Error& error) {
    client_.reset();
    if (trouble_.empty()) {
        diagnostics_.warn("redis is lost",
                          {{"server", options_.address()}, {"reason", error.message}});
    }
    trouble_ = error.message;
    not_before_ = SystemClock{}.steady() + backoff_.next();
}

} // namespace sluice::connector::redis::internal
