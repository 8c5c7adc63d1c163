#include "store/postgres/internal/readers.h"

namespace sluice::store::postgres {

Outcome<std::unique_ptr<Connection>> Readers::take() {
    {
        auto lock = std::unique_lock{mutex_};
        auto is_free = [&] { return taken_ < options_.readers; };
        if (!returned_.wait_for(lock, options_.timeout, is_free)) {
            return std::unexpected(Failure{.trouble = Trouble::Busy,
                                           .code = Errc::Unavailable,
                                           .message = "all connections for reads are at work"});
        }
        ++taken_;
        if (!idle_.empty()) {
            auto connection = std::move(idle_.back());
            idle_.pop_back();
            return connection;
        }
    }
    auto opened = Connection::open(options_, Role::Reads);
    if (!opened) {
        give_back(nullptr);
    }
    return opened;
}

void Readers::give_back(std::unique_ptr<Connection> connection) {
    auto dropped = std::vector<std::unique_ptr<Connection>>{};
    {
        auto lock = std::lock_guard{mutex_};
        --taken_;
        if (connection == nullptr) {
            dropped.swap(idle_);
        } else {
            idle_.push_back(std::move(connection));
        }
    }
    returned_.notify_one();
}

} // namespace sluice::store::postgres
