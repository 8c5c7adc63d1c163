#include "cluster/feed_sender.h"

namespace sluice::cluster {

namespace {

/// Whoever waits, as somebody who hears a value.
engine::Done take_waiting(engine::Input& input) {
    if (auto* events = std::get_if<engine::EventsInput>(&input)) {
        return [done = std::exchange(events->done, nullptr)](const Result<Value>& taken) mutable {
            done(taken ? Result<engine::Receipt>{engine::Receipt{}}
                       : std::unexpected(taken.error()));
        };
    }
    auto* move = std::get_if<engine::MoveInput>(&input);
    return move == nullptr ? engine::Done{} : std::exchange(move->done, nullptr);
}

std::pair<ShardId, std::string> name_of(const engine::Input& input) {
    return std::visit(
        [](const auto& each) -> std::pair<ShardId, std::string> {
            if constexpr (requires { each.shard, each.partition; }) {
                return {each.shard, each.partition};
            } else {
                return {};
            }
        },
        input);
}

} // namespace

void FeedSender::send(engine::Input&& input) {
    auto name = name_of(input);
    if (std::holds_alternative<engine::LeaveInput>(input)) {
        leave(name, input);
        return;
    }
    auto done = take_waiting(input);
    auto lock = std::unique_lock{mutex_};
    auto& line = lines_[name];
    if (line.error) {
        auto error = *line.error;
        lock.unlock();
        done(std::unexpected(error));
        return;
    }
    line.pending.push_back({.number = ++last_, .input = std::move(input), .done = std::move(done)});
    auto is_first = line.pending.size() == 1;
    lock.unlock();
    if (is_first) {
        send_first(name);
    }
}

void FeedSender::leave(const Name& name, const engine::Input& input) {
    auto error = Error{Errc::Unavailable, "nobody feeds this source any more"};
    auto lock = std::unique_lock{mutex_};
    auto& line = lines_[name];
    auto pending = std::exchange(line.pending, {});
    if (!pending.empty()) {
        line.error = error;
    }
    lock.unlock();
    send_(input, [](const Result<Value>&) {});
    for (auto& each : pending) {
        each.done(std::unexpected(error));
    }
}

void FeedSender::send_first(const Name& name) {
    auto lock = std::unique_lock{mutex_};
    auto& pending = lines_[name].pending;
    if (pending.empty()) {
        return;
    }
    auto number = pending.front().number;
    auto input = std::move(pending.front().input);
    lock.unlock();
    send_(input, [self = shared_from_this(), name, number](const Result<Value>& taken) {
        self->hear(name, number, taken);
    });
}

void FeedSender::hear(const Name& name, std::uint64_t number, const Result<Value>& taken) {
    auto lock = std::unique_lock{mutex_};
    auto& line = lines_[name];
    if (line.pending.empty() || line.pending.front().number != number) {
        return; // It was left.
    }
    auto heard = std::deque<Pending>{};
    if (taken) {
        heard.push_back(std::move(line.pending.front()));
        line.pending.pop_front();
    } else {
        line.error = taken.error();
        heard = std::exchange(line.pending, {});
    }
    lock.unlock();
    for (auto& each : heard) {
        each.done(taken ? Result<Value>{Value{}} : std::unexpected(taken.error()));
    }
    send_first(name);
}

} // namespace sluice::cluster
