#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "store/redis/internal/pool.h"

namespace sluice::store::redis::internal {

/// One attempt at the calls that are not done: all are sent, then all are heard.
class Round {
public:
    Round(Pool& pool, std::span<Call> calls) : pool_(pool), calls_(calls) {}

    Result<void> run();

private:
    /// What goes to one node.
    struct Errand {
        std::unique_ptr<Connection> connection;           ///< Null: it could not be reached.
        std::vector<std::pair<Call*, std::size_t>> calls; ///< With how many commands end there.
    };

    void write(Call& call);
    void hear(const Address& place, Errand& errand);
    Result<void> ask_there(const Address& place, Call& call);
    /// Of several errors the one that decides what comes next.
    void note(Error error);

    Pool& pool_;
    std::span<Call> calls_;
    std::map<Address, Errand> errands_;
    std::optional<Error> error_;
};

} // namespace sluice::store::redis::internal
