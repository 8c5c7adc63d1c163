#include "engine/internal/feed.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "engine/keys.h"
#include "engine/run_records.h"
#include "event/codec.h"
#include "trigger/arrival.h"

namespace sluice::engine {

namespace {

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

/// The answers of several shards to one delivery.
struct Gathered {
    std::mutex mutex;
    std::size_t left = 0;
    std::vector<trigger::Fate> fates;
    std::optional<Error> error;
    Accepted done;

    void take(const std::vector<std::size_t>& places, Result<std::vector<trigger::Fate>> part) {
        auto lock = std::unique_lock{mutex};
        if (part) {
            for (auto at = std::size_t{0}; at < places.size(); ++at) {
                fates[places[at]] = (*part)[at];
            }
        } else {
            error = part.error();
        }
        if (--left > 0) {
            return;
        }
        lock.unlock();
        error ? done(std::unexpected(*error)) : done(std::move(fates));
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
        done(std::vector<trigger::Fate>{});
        return;
    }
    auto gathered = std::make_shared<Gathered>();
    gathered->left = parts.size();
    gathered->fates.resize(events.size());
    gathered->done = std::move(done);
    for (auto& [shard, part] : parts) {
        part.input.shard = shard;
        part.input.space = space;
        part.input.done = [gathered, places = std::move(part.places)](auto fates) {
            gathered->take(places, std::move(fates));
        };
        post(std::move(part.input));
    }
}

namespace {

/// Counts deliveries under way, and confirms a partition up to the oldest of them.
class Progress {
public:
    void begin(std::uint64_t first) {
        auto lock = std::lock_guard{mutex_};
        ++under_way_[first];
    }

    void finish(std::uint64_t first, std::uint64_t last,
                const Result<std::vector<trigger::Fate>>& result) {
        auto lock = std::lock_guard{mutex_};
        if (result) {
            auto found = under_way_.find(first);
            if (--found->second == 0) {
                under_way_.erase(found);
            }
            highest_ = std::max(highest_, last);
        } else if (!error_) {
            // It stays under way: nothing from there on is confirmed.
            error_ = result.error();
        }
        changed_.notify_all();
    }

    /// All up to here are durable.
    std::uint64_t confirmed() {
        auto lock = std::lock_guard{mutex_};
        return under_way_.empty() ? highest_ : under_way_.begin()->first - 1;
    }

    Result<void> wait_for_all() {
        auto lock = std::unique_lock{mutex_};
        changed_.wait(lock, [&] { return under_way_.empty() || error_; });
        return status(lock);
    }

    Result<void> status() {
        auto lock = std::unique_lock{mutex_};
        return status(lock);
    }

private:
    Result<void> status(const std::unique_lock<std::mutex>& /*held*/) const {
        if (error_) {
            return std::unexpected(*error_);
        }
        return {};
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::uint64_t, std::size_t> under_way_; ///< By their first number.
    std::uint64_t highest_ = 0;
    std::optional<Error> error_;
};

Result<std::map<ShardId, EventsInput>> split(const event::Chunk& chunk, const std::string& space,
                                             std::uint16_t shard_count, event::Codec& codec) {
    auto parts = std::map<ShardId, EventsInput>{};
    auto text = std::string_view{*chunk.bytes}.substr(0, chunk.size);
    auto number = chunk.first;
    auto last_run = std::string{};
    auto shard = ShardId{};
    EventsInput* part = nullptr;
    while (!text.empty()) {
        auto end = text.find('\n');
        auto line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (line.empty()) {
            continue;
        }
        auto event = codec.parse_shared(line, chunk.bytes);
        if (!event) {
            return fail(event.error().code, "{} event {}: {}", chunk.partition, number,
                        event.error().message);
        }
        TRY(check_event(*event));
        if (part == nullptr || event->run() != last_run) {
            last_run = event->run();
            shard = shard_of({.space = space, .id = last_run}, shard_count);
            part = &parts[shard];
            part->shard = shard;
            part->space = space;
            part->partition = chunk.first == 0 ? std::string{} : chunk.partition;
        }
        part->events.push_back(*std::move(event));
        if (chunk.first != 0) {
            part->numbers.push_back(number);
        }
        ++number;
    }
    return parts;
}

Result<std::uint64_t> position_of(const store::Store& store, std::string_view partition) {
    auto smallest = std::optional<std::uint64_t>{};
    for (auto shard = std::uint16_t{0}; shard < store.shard_count(); ++shard) {
        auto stored = TRY(store.get(keys::position(ShardId{shard}, partition)));
        // A shard that has nothing of it yet may still miss its first event.
        auto number = std::uint64_t{0};
        if (stored) {
            number = TRY(read_number(*stored));
        }
        smallest = smallest ? std::min(*smallest, number) : number;
    }
    return smallest.value_or(0);
}

} // namespace

Result<std::uint64_t> feed_source(event::Source& source, const std::string& space,
                                  const store::Store& store, const Post& push) {
    constexpr auto chunk_bytes = std::size_t{512 * 1024};
    auto position = TRY(position_of(store, source.name()));
    TRY(source.resume(source.name(), position));
    auto codec = event::Codec{};
    auto progress = std::make_shared<Progress>();
    auto count = std::uint64_t{0};
    while (true) {
        TRY(progress->status());
        auto chunk = TRY(source.read(chunk_bytes));
        if (chunk.size == 0) {
            break;
        }
        auto parts = TRY(split(chunk, space, store.shard_count(), codec));
        for (auto& [shard, part] : parts) {
            auto events = part.events.size();
            auto first = part.numbers.empty() ? count + 1 : part.numbers.front();
            auto last = part.numbers.empty() ? count + events : part.numbers.back();
            count += events;
            progress->begin(first);
            part.done = [progress, first, last](auto fates) {
                progress->finish(first, last, fates);
            };
            push(std::move(part));
        }
        source.confirm(chunk.partition, progress->confirmed());
    }
    TRY(progress->wait_for_all());
    source.confirm(source.name(), progress->confirmed());
    return count;
}

} // namespace sluice::engine
