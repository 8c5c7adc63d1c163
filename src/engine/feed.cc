#include "engine/feed.h"

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "engine/keys.h"
#include "trigger/arrival.h"

namespace sluice::engine {

Result<void> check_event(const event::Event& event) {
    if (event.run().empty()) {
        return fail(Errc::InvalidInput, "event \"{}\" names no run: expected the attribute run",
                    event.id());
    }
    if (!trigger::is_run_id(event.run())) {
        return fail(Errc::InvalidInput, "event \"{}\": its run cannot be a run's id", event.id());
    }
    if (event.type().starts_with(trigger::types::reserved_prefix)) {
        return fail(Errc::InvalidInput,
                    "event \"{}\" has the type {}: types that begin with sluice. come from the "
                    "engine alone",
                    event.id(), event.type());
    }
    return {};
}

namespace {

/// The answers of several shards to one delivery.
struct Gathered {
    std::mutex mutex;
    std::size_t left = 0;
    Receipt receipt;
    std::optional<Error> error;
    Accepted done;

    void take(const std::vector<std::size_t>& places, Result<Receipt> part) {
        auto lock = std::unique_lock{mutex};
        if (part) {
            for (auto at = std::size_t{0}; at < places.size(); ++at) {
                receipt.fates[places[at]] = part->fates[at];
            }
            for (auto& reply : part->replies) {
                receipt.replies.push_back(
                    {.event = places[reply.event], .data = std::move(reply.data)});
            }
        } else {
            error = part.error();
        }
        if (--left > 0) {
            return;
        }
        lock.unlock();
        error ? done(std::unexpected(*error)) : done(std::move(receipt));
    }
};

} // namespace

void send_events(std::string space, std::vector<event::Event> events, std::uint16_t shard_count,
                 Accepted done, const Post& post) {
    struct Part {
        EventsInput input;
        std::vector<std::size_t> places;
    };
    auto parts = std::map<ShardId, Part>{};
    for (auto at = std::size_t{0}; at < events.size(); ++at) {
        if (auto checked = check_event(events[at]); !checked) {
            done(std::unexpected(checked.error()));
            return;
        }
        auto shard = shard_of({.space = space, .id = std::string{events[at].run()}}, shard_count);
        parts[shard].places.push_back(at);
        parts[shard].input.events.push_back(std::move(events[at]));
    }
    if (parts.empty()) {
        done(Receipt{});
        return;
    }
    auto gathered = std::make_shared<Gathered>();
    gathered->left = parts.size();
    gathered->receipt.fates.resize(events.size());
    gathered->done = std::move(done);
    for (auto& [shard, part] : parts) {
        part.input.shard = shard;
        part.input.space = space;
        part.input.done = [gathered, places = std::move(part.places)](auto receipt) {
            gathered->take(places, std::move(receipt));
        };
        post(std::move(part.input));
    }
}

} // namespace sluice::engine
