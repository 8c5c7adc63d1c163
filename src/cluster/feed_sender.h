#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "engine/input.h"

namespace sluice::cluster {

/// What one reading of a source brings, to each shard in order.
///
/// A shard takes of a partition only what is newer than what it has, so what comes out of order
/// would be lost: the next is sent when the one before is durable, and behind one that was not
/// taken nothing is. From any thread.
class FeedSender : public std::enable_shared_from_this<FeedSender> {
public:
    using Send = std::function<void(const engine::Input& input, engine::Done done)>;

    explicit FeedSender(Send send) : send_(std::move(send)) {}

    /// Events with their numbers, or how far a partition is. With LeaveInput whoever waits hears
    /// that nothing was taken, though what is under way still may be.
    void send(engine::Input&& input);

private:
    using Name = std::pair<ShardId, std::string>; ///< Shard and partition.
    struct Pending {
        std::uint64_t number = 0;
        engine::Input input;
        engine::Done done;
    };
    struct Line {
        std::deque<Pending> pending; ///< The first of them is under way.
        std::optional<Error> error;  ///< One was not taken: nothing behind it is sent.
    };

    void leave(const Name& name, const engine::Input& input);
    void send_first(const Name& name);
    void hear(const Name& name, std::uint64_t number, const Result<Value>& taken);

    Send send_;
    std::mutex mutex_; ///< Of what follows.
    std::uint64_t last_ = 0;
    std::map<Name, Line> lines_;
};

} // namespace sluice::cluster
