#include "store/redis/internal/pool.h"

#include <algorithm>
#include <thread>

namespace sluice::store::redis::internal {
namespace {

constexpr auto idle_max = std::size_t{16};

} // namespace

Attempts::Attempts(Nanos patience)
    : until_(SystemClock{}.steady() + patience),
      backoff_(static_cast<std::uint64_t>(SystemClock{}.wall().time_since_epoch().count()), {}) {}

bool Attempts::wait() {
    auto left = until_ - SystemClock{}.steady();
    if (left <= Nanos{0}) {
        return false;
    }
    std::this_thread::sleep_for(std::min(left, backoff_.next()));
    return true;
}

bool Pool::is_passing(const Error& error) {
    // A script that is not known was flushed or its server restarted; a new connection loads it.
    return error.code == Errc::Unavailable || error.message.starts_with("NOSCRIPT");
}

Result<std::unique_ptr<Connection>> Pool::borrow() {
    {
        auto lock = std::lock_guard{mutex_};
        if (!idle_.empty()) {
            auto connection = std::move(idle_.back());
            idle_.pop_back();
            return connection;
        }
    }
    auto connection = TRY(Connection::open(options_));
    return std::make_unique<Connection>(std::move(connection));
}

void Pool::give_back(std::unique_ptr<Connection> connection) {
    if (!connection->client().is_open() || connection->client().owed() != 0) {
        return;
    }
    auto lock = std::lock_guard{mutex_};
    if (idle_.size() < idle_max) {
        idle_.push_back(std::move(connection));
    }
}

void Pool::drop_idle() {
    auto lock = std::lock_guard{mutex_};
    idle_.clear();
}

} // namespace sluice::store::redis::internal
