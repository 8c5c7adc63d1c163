#include "cluster/bus_feed.h"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "cluster/bus_event.h"
#include "engine/feed.h"
#include "engine/keys.h"
#include "engine/quarantine.h"
#include "engine/run_records.h"
#include "reactor/thread.h"

namespace sluice::cluster {

namespace {

constexpr auto chunk_bytes = std::size_t{512 * 1024};
constexpr auto read_wait = std::chrono::milliseconds{20};
constexpr auto chunks_under_way_max = std::size_t{16};
// In a row; one that read for so long has begun a new row.
constexpr auto failures_max = std::size_t{10};
constexpr auto quiet_time = std::chrono::seconds{10};

Nanos passed_time() {
    return std::chrono::steady_clock::now().time_since_epoch();
}

std::string space_of(const event::Event& event) {
    auto space = event.attribute(space_attribute);
    return space && space->is_string() ? std::string{space->as_string()} : engine::RunName{}.space;
}

} // namespace

BusFeed::BusFeed(FeedServices services)
    : services_(std::move(services)),
      thread_(reactor::start_thread("bus", [this](const std::stop_token& stop) { run(stop); })) {}

BusFeed::~BusFeed() = default;

void BusFeed::add(ShardId shard) {
    auto lock = std::lock_guard{mutex_};
    wanted_[shard] = ++terms_;
    has_changed_ = true;
}

void BusFeed::remove(ShardId shard) {
    auto lock = std::lock_guard{mutex_};
    wanted_.erase(shard);
    has_changed_ = true;
}

void BusFeed::run(const std::stop_token& stop) {
    auto failures = std::size_t{0};
    while (!stop.stop_requested()) {
        auto began = passed_time();
        auto source = services_.bus.open_source();
        auto read = source ? this->read(**source, stop) : std::unexpected(source.error());
        if (read || stop.stop_requested()) {
            return;
        }
        failures = passed_time() - began > quiet_time ? 1 : failures + 1;
        if (failures >= failures_max) {
            services_.diagnostics.error("the bus cannot be read", {{"why", read.error().message}});
            services_.stop(read.error());
            return;
        }
        services_.diagnostics.warn("the bus is read anew", {{"why", read.error().message}});
        wait_to_read_again(stop);
    }
}

void BusFeed::wait_to_read_again(const std::stop_token& stop) {
    partitions_.clear();
    by_name_.clear();
    gathered_ = {};
    auto lock = std::unique_lock{mutex_};
    changed_.wait_for(lock, stop, services_.reread_wait, [] { return false; });
    has_changed_ = true;
}

Result<void> BusFeed::read(event::Source& source, const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        TRY(follow_changes(source));
        auto chunk = TRY(source.read(chunk_bytes, read_wait));
        if (!chunk.records.empty()) {
            hand_out(chunk);
        }
        TRY(keep_pace(source));
        lag_ = source.lag().value_or(0);
    }
    return {};
}

Result<void> BusFeed::follow_changes(event::Source& source) {
    auto lock = std::unique_lock{mutex_};
    if (!std::exchange(has_changed_, false)) {
        return {};
    }
    auto wanted = wanted_;
    lock.unlock();
    std::erase_if(partitions_, [&](const auto& each) {
        auto found = wanted.find(each.first);
        if (found != wanted.end() && found->second == each.second.term) {
            return false;
        }
        source.leave(each.second.name);
        by_name_.erase(each.second.name);
        return true;
    });
    for (auto [shard, term] : wanted) {
        if (!partitions_.contains(shard)) {
            TRY(resume(source, shard, term));
        }
    }
    return {};
}

/// From what its shard has committed.
Result<void> BusFeed::resume(event::Source& source, ShardId shard, std::uint64_t term) {
    auto name = services_.bus.partition(shard);
    auto stored = TRY(services_.store.get(engine::keys::position(shard, name)));
    auto position = std::uint64_t{0};
    if (stored) {
        position = TRY(engine::read_number(*stored));
    }
    TRY(source.resume(name, position));
    by_name_[name] = shard;
    partitions_[shard] = {.name = name,
                          .progress = std::make_shared<engine::FeedProgress>(),
                          .last = position,
                          .confirmed = position,
                          .term = term,
                          .base = position};
    return {};
}

void BusFeed::hand_out(const event::Chunk& chunk) {
    auto found = by_name_.find(chunk.partition);
    if (found == by_name_.end()) {
        return; // It has just been left.
    }
    auto shard = found->second;
    auto& partition = partitions_[shard];
    // Numbers that begin anew with each reading go on where the shard's position is: what comes
    // again is told by its id, or by the message's own number.
    partition.is_counted = !chunk.is_numbered;
    auto first = partition.last + 1;
    for (const auto& record : chunk.records) {
        auto number = record.number + (partition.is_counted ? partition.base : 0);
        if (number <= partition.last) {
            continue;
        }
        partition.last = number;
        auto text = std::string_view{*chunk.bytes}.substr(record.begin, record.size);
        auto refuse = [&](std::string_view why) {
            add_event(engine::malformed_event(chunk.partition, number, why, text), number, shard,
                      partition);
        };
        auto event = record.fault.empty()
                         ? codec_.parse_shared(text, chunk.bytes)
                         : Result<event::Event>{fail(Errc::InvalidInput, "{}", record.fault)};
        if (!event) {
            refuse(event.error().message);
        } else if (event->type() == message_type) {
            auto message = read_message(*event, services_.seal);
            if (!message) {
                refuse(message.error().message);
                continue;
            }
            flush(partition);
            services_.take(*std::move(message));
        } else if (auto checked = engine::check_event(*event); !checked) {
            refuse(checked.error().message);
        } else if (engine::shard_of(engine::RunName{space_of(*event), std::string{event->run()}},
                                    services_.store.shard_count()) != shard) {
            refuse(fmt::format("run \"{}\" has another partition", event->run()));
        } else {
            add_event(*std::move(event), number, shard, partition);
        }
    }
    flush(partition);
    auto number = partition.last;
    if (number < first) {
        return;
    }
    // Messages have numbers of their own; that they were taken is committed with the position, and
    // nothing of the chunk is confirmed before.
    partition.progress->begin(partition.name, first, number, 1);
    services_.take(engine::MoveInput{
        .shard = shard,
        .partition = partition.name,
        .number = number,
        .done = [progress = partition.progress, name = partition.name,
                 first](const Result<Value>& moved) { progress->finish(name, first, moved); }});
}

void BusFeed::add_event(event::Event&& event, std::uint64_t number, ShardId shard,
                        Partition& partition) {
    auto space = space_of(event);
    if (!gathered_.events.empty() && gathered_.space != space) {
        flush(partition);
    }
    gathered_.shard = shard;
    gathered_.space = std::move(space);
    gathered_.partition = partition.name;
    gathered_.events.push_back(std::move(event));
    gathered_.numbers.push_back(number);
}

void BusFeed::flush(Partition& partition) {
    if (gathered_.events.empty()) {
        return;
    }
    auto first = gathered_.numbers.front();
    partition.progress->begin(partition.name, first, gathered_.numbers.back(), 1);
    gathered_.done = [progress = partition.progress, name = partition.name,
                      first](const Result<engine::Receipt>& receipt) {
        progress->finish(name, first, receipt);
    };
    services_.take(std::exchange(gathered_, {}));
}

/// Confirms what is durable. A partition whose shard did not take something is read again from what
/// it has committed; one of which much is under way waits.
Result<void> BusFeed::keep_pace(event::Source& source) {
    for (auto& [shard, partition] : partitions_) {
        if (partition.again > Nanos{0}) {
            if (passed_time() >= partition.again) {
                TRY(resume(source, shard, partition.term));
            }
            continue;
        }
        if (auto error = partition.progress->error()) {
            services_.diagnostics.info("a partition is read again",
                                       {{"partition", partition.name}, {"why", error->message}});
            source.leave(partition.name);
            partition.again = passed_time() + services_.reread_wait;
            continue;
        }
        auto confirmed = partition.progress->confirmed(partition.name);
        if (confirmed > partition.confirmed) {
            partition.confirmed = confirmed;
            // What was read before it was left comes again, and is confirmed then.
            auto before = partition.is_counted ? partition.base : 0;
            if (confirmed > before) {
                source.confirm(partition.name, confirmed - before);
            }
        }
        auto under_way = partition.progress->under_way(partition.name);
        if (!partition.is_left && under_way >= chunks_under_way_max) {
            partition.is_left = true;
            source.leave(partition.name);
        } else if (partition.is_left && under_way < chunks_under_way_max / 2) {
            partition.is_left = false;
            partition.base = partition.last;
            TRY(source.resume(partition.name, partition.last));
        }
    }
    return {};
}

} // namespace sluice::cluster
