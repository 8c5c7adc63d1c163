#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <random>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "engine/feed.h"
#include "engine/feed_progress.h"
#include "engine/keys.h"
#include "engine/quarantine.h"
#include "engine/run_records.h"
#include "event/builder.h"
#include "event/codec.h"
#include "trigger/arrival.h"

namespace sluice::engine {

namespace {

constexpr auto chunk_bytes = std::size_t{512 * 1024};
// A source is not read further ahead of what is durable, nor one of its partitions. Bytes take
// about twice as much memory, by the events that point into them.
constexpr auto bytes_under_way_max = std::size_t{3} << 20U;
constexpr auto chunks_under_way_max = std::size_t{32};
constexpr auto chunks_of_one_max = std::size_t{16};
// So often shards that nothing was for are told how far the partition is, at the latest after as
// many chunks.
constexpr auto move_interval = std::chrono::seconds{1};
constexpr auto chunks_between_moves = std::uint64_t{64};
// So soon a feed that waits for events sees that it is to stop, and confirms what is durable.
constexpr auto idle_wait = std::chrono::milliseconds{20};

/// Names of partitions without positions: each time they are read, by whichever process, their
/// numbers begin anew.
std::string counted_name(std::string_view partition) {
    static const auto process = std::random_device{}();
    static auto count = std::atomic<std::uint64_t>{0};
    return fmt::format("{}#{:08x}-{}", partition, process, count.fetch_add(1) + 1);
}

/// Several chunks may lie in one buffer.
std::size_t bytes_of(const event::Chunk& chunk) {
    return chunk.records.back().begin + chunk.records.back().size - chunk.records.front().begin;
}

using Steady = std::chrono::steady_clock;

/// All shards are being told how far a partition is.
struct Move {
    std::uint64_t number;
    std::atomic<std::size_t> left; ///< Shards that have not answered.
    std::atomic<bool> has_failed = false;
};

/// One partition while it is read.
struct Partition {
    std::string name{};                     ///< Under which shards know it.
    std::vector<std::uint64_t> positions{}; ///< Of each shard when it began.
    bool is_numbered = true;
    bool is_left = false;    ///< Too much of it is under way: it is not read just now.
    bool is_new = false;     ///< No shard has had anything of it.
    std::uint64_t last = 0;  ///< Number handed out last.
    std::uint64_t moved = 0; ///< Every shard keeps at least this position.
    std::shared_ptr<Move> move{};
    Steady::time_point moved_at = Steady::now();
    std::uint64_t confirmed = 0;
    std::uint64_t chunks = 0;
    std::size_t chunk_records = 0; ///< Of the chunk that is handed out.
};

/// One reading of a source: its chunks to the shards, in order.
class SourceFeed {
public:
    SourceFeed(event::Source& source, const FeedOptions& options, const store::Store& store,
               const Post& push)
        : source_(source), options_(options), store_(store), push_(push) {}

    Result<std::uint64_t> run(const std::stop_token& stop) {
        TRY(begin());
        for (auto is_last = false; !is_last;) {
            auto has_room = TRY(
                progress_->wait_for_fewer_than(chunks_under_way_max, bytes_under_way_max, stop));
            if (!has_room || stop.stop_requested()) {
                break;
            }
            auto chunk = TRY(source_.read(chunk_bytes, idle_wait));
            if (!chunk.records.empty()) {
                TRY(hand_out(chunk));
            }
            TRY(keep_pace());
            is_last = chunk.is_last;
        }
        TRY(finish(stop));
        return count_;
    }

private:
    using Parts = std::map<ShardId, EventsInput>;

    Result<void> begin() {
        auto partitions = TRY(source_.partitions());
        for (const auto& partition : partitions) {
            TRY(begin(partition));
        }
        return {};
    }

    Result<void> begin(const std::string& partition) {
        auto& begun = *TRY(know(partition));
        return source_.resume(partition, begun.last);
    }

    /// Up to where shards have it.
    Result<Partition*> know(const std::string& partition) {
        auto positions = TRY(positions_of(store_, partition));
        auto position = *std::ranges::min_element(positions);
        auto is_new = std::ranges::max(positions) == 0;
        auto known = Partition{.name = partition,
                               .positions = std::move(positions),
                               .is_new = is_new,
                               .last = position,
                               .moved = position};
        return &partitions_.insert_or_assign(partition, std::move(known)).first->second;
    }

    Result<void> hand_out(const event::Chunk& chunk) {
        auto found = partitions_.find(chunk.partition);
        if (found == partitions_.end() && chunk.is_numbered) {
            const auto& known = *TRY(know(chunk.partition));
            if (!known.is_new) {
                return source_.resume(chunk.partition, known.last); // This chunk comes again.
            }
            found = partitions_.find(chunk.partition); // It begins where its source says.
        }
        if (found == partitions_.end()) {
            found = partitions_.try_emplace(chunk.partition).first;
        }
        auto& partition = found->second;
        if (!chunk.is_numbered && partition.is_numbered) {
            partition.name = counted_name(chunk.partition);
            partition.is_numbered = false;
            partition.positions.assign(store_.shard_count(), 0);
        }
        auto first = chunk.records.front().number;
        if (first <= partition.last) {
            return fail(Errc::Corrupt, "source {} gave number {} of {} behind number {}",
                        source_.name(), first, chunk.partition, partition.last);
        }
        if (std::exchange(partition.is_new, false) && partition.is_numbered && first > 1) {
            TRY(keep_start(partition, first - 1));
        }
        auto parts = TRY(split(chunk, partition));
        partition.last = chunk.records.back().number;
        progress_->begin(partition.name, first, partition.last, parts.size(), bytes_of(chunk));
        for (auto& [shard, part] : parts) {
            count_ += part.events.size();
            part.done = [progress = progress_, name = partition.name,
                         first](const Result<Receipt>& receipt) {
                progress->finish(name, first, receipt);
            };
            push_(std::move(part));
        }
        if (partition.is_numbered && ++partition.chunks % chunks_between_moves == 0) {
            move_along(partition);
        }
        return {};
    }

    /// Where a partition began is not found a second time: every shard keeps it before anything of
    /// the partition is taken.
    Result<void> keep_start(Partition& partition, std::uint64_t number) {
        partition.last = number;
        move_along(partition);
        return wait_until_moved(partition);
    }

    Result<void> wait_until_moved(Partition& partition) {
        auto move = std::exchange(partition.move, nullptr);
        for (auto left = move->left.load(); left > 0; left = move->left.load()) {
            move->left.wait(left);
        }
        if (move->has_failed) {
            return fail(Errc::Unavailable, "the position of {} could not be kept", partition.name);
        }
        partition.moved = move->number;
        return {};
    }

    /// What its shard has taken before is left out.
    Result<Parts> split(const event::Chunk& chunk, Partition& partition) {
        auto parts = Parts{};
        partition.chunk_records = chunk.records.size();
        last_part_ = nullptr;
        is_of_one_run_ = true;
        for (const auto& record : chunk.records) {
            auto event = event_of(chunk, record);
            if (!options_.route || !event.run().empty() || event.type() == malformed_type) {
                add(std::move(event), record.number, partition, parts);
                continue;
            }
            auto routed = TRY(options_.route(event));
            if (routed.empty() && !options_.drops_unrouted) {
                routed.push_back(malformed_event(chunk.partition, record.number,
                                                 "it names no run, and no route takes it",
                                                 event.json()));
            }
            is_of_one_run_ = is_of_one_run_ && routed.size() == 1;
            for (auto& each : routed) {
                add(std::move(each), record.number, partition, parts);
            }
        }
        if (chunk.packed && is_of_one_run_) {
            lend(chunk.packed, parts);
        }
        return parts;
    }

    /// A run's history keeps text as it came packed where nothing else is in it: whoever removes
    /// another run removes all of it.
    static void lend(const std::shared_ptr<const event::PackedText>& packed, Parts& parts) {
        for (auto& [shard, part] : parts) {
            part.packed = part.events.size() == packed->events ? packed : nullptr;
        }
    }

    /// A message that is none becomes one that tells why, and finds no run.
    event::Event event_of(const event::Chunk& chunk, const event::Record& record) {
        auto text = std::string_view{*chunk.bytes}.substr(record.begin, record.size);
        if (!record.fault.empty()) {
            return malformed_event(chunk.partition, record.number, record.fault, text);
        }
        auto event = codec_.parse_shared(text, chunk.bytes);
        if (!event) {
            return malformed_event(chunk.partition, record.number, event.error().message, text);
        }
        // What was said of the run of the event before holds for this one too.
        auto is_checked = !last_run_.empty() && event->run() == last_run_ &&
                          !event->type().starts_with(trigger::types::reserved_prefix);
        if (is_checked) {
            return *std::move(event);
        }
        auto may_be_routed = options_.route && event->run().empty();
        if (auto checked = check_event(*event); !checked && !may_be_routed) {
            return malformed_event(chunk.partition, record.number, checked.error().message, text);
        }
        return *std::move(event);
    }

    void add(event::Event&& event, std::uint64_t number, const Partition& partition, Parts& parts) {
        if (last_part_ == nullptr || event.run() != last_run_) {
            is_of_one_run_ = is_of_one_run_ && (parts.empty() || event.run() == last_run_);
            last_run_ = event.run();
            auto home = last_run_.empty() ? partition.name : last_run_;
            last_shard_ = shard_of({.space = options_.space, .id = home}, store_.shard_count());
            last_part_ = nullptr;
        }
        if (number <= partition.positions[last_shard_.raw()]) {
            source_.pass_over(partition.name, number);
            return;
        }
        if (last_part_ == nullptr) {
            last_part_ = &parts[last_shard_];
            reserve(*last_part_, partition.chunk_records / parts.size());
            last_part_->shard = last_shard_;
            last_part_->space = options_.space;
            last_part_->partition = partition.name;
            last_part_->is_counted = !partition.is_numbered;
        }
        last_part_->events.push_back(std::move(event));
        last_part_->numbers.push_back(number);
    }

    /// A chunk mostly goes to one shard; moving events as their list grows costs as much as reading
    /// them.
    static void reserve(EventsInput& part, std::size_t count) {
        if (part.events.empty()) {
            part.events.reserve(count);
            part.numbers.reserve(count);
        }
    }

    /// Confirms what is durable, and what no shard will ask for again. A partition of which much is
    /// under way waits, the others go on.
    Result<void> keep_pace() {
        for (auto& [name, partition] : partitions_) {
            auto confirmed = progress_->confirmed(partition.name);
            if (partition.is_numbered) {
                keep_moving(partition);
                confirmed = std::min(confirmed, partition.moved);
            }
            if (confirmed > partition.confirmed) {
                partition.confirmed = confirmed;
                source_.confirm(name, confirmed);
            }
            if (partitions_.size() == 1) {
                continue;
            }
            auto under_way = progress_->under_way(partition.name);
            if (!partition.is_left && under_way >= chunks_of_one_max) {
                partition.is_left = true;
                source_.leave(name);
            } else if (partition.is_left && under_way < chunks_of_one_max / 2) {
                partition.is_left = false;
                TRY(source_.resume(name, partition.last));
            }
        }
        return {};
    }

    void keep_moving(Partition& partition) {
        if (partition.move && partition.move->left == 0) {
            auto move = std::exchange(partition.move, nullptr);
            partition.moved = move->has_failed ? partition.moved : move->number;
        }
        auto is_due = Steady::now() - partition.moved_at >= move_interval;
        if (!partition.move && partition.last > partition.moved && is_due) {
            move_along(partition);
        }
    }

    /// Each shard hears how far the partition is, so that reading resumes there and not where the
    /// shard last had an event of it.
    void move_along(Partition& partition) {
        partition.moved_at = Steady::now();
        partition.move = std::make_shared<Move>(partition.last, store_.shard_count());
        for (auto shard = std::uint16_t{0}; shard < store_.shard_count(); ++shard) {
            auto done = [move = partition.move](const Result<Value>& moved) {
                if (!moved) {
                    move->has_failed = true;
                }
                if (--move->left == 0) {
                    move->left.notify_all();
                }
            };
            push_(MoveInput{.shard = ShardId{shard},
                            .partition = partition.name,
                            .number = partition.last,
                            .done = std::move(done)});
        }
    }

    void leave(const Partition& partition) {
        for (auto shard = std::uint16_t{0}; shard < store_.shard_count(); ++shard) {
            push_(LeaveInput{.shard = ShardId{shard},
                             .partition = partition.name,
                             .is_counted = !partition.is_numbered});
        }
    }

    Result<void> finish(const std::stop_token& stop) {
        auto has_waited = TRY(progress_->wait_for_all(stop));
        for (const auto& [name, partition] : partitions_) {
            if (!has_waited || !partition.is_numbered) {
                leave(partition);
            }
        }
        std::ignore = TRY(progress_->wait_for_all({}));
        for (auto& [name, partition] : partitions_) {
            if (partition.is_numbered && partition.last > partition.moved) {
                move_along(partition);
                TRY(wait_until_moved(partition));
            }
        }
        return keep_pace();
    }

    event::Source& source_;
    const FeedOptions& options_;
    const store::Store& store_;
    const Post& push_;
    event::Codec codec_;
    std::map<std::string, Partition, std::less<>> partitions_;
    std::shared_ptr<FeedProgress> progress_ = std::make_shared<FeedProgress>();
    std::uint64_t count_ = 0;
    // The run of the event before is mostly that of the next.
    std::string last_run_;
    ShardId last_shard_;
    EventsInput* last_part_ = nullptr;
    bool is_of_one_run_ = true; ///< This chunk, as far as it was split.
};

} // namespace

Result<std::vector<std::uint64_t>> positions_of(const store::Store& store,
                                                std::string_view partition) {
    auto positions = std::vector<std::uint64_t>{};
    for (auto shard = std::uint16_t{0}; shard < store.shard_count(); ++shard) {
        auto stored = TRY(store.get(keys::position(ShardId{shard}, partition)));
        // A shard that has nothing of it yet may still miss its first event.
        positions.push_back(0);
        if (stored) {
            positions.back() = TRY(read_number(*stored));
        }
    }
    return positions;
}

Result<std::uint64_t> feed_source(event::Source& source, const FeedOptions& options,
                                  const store::Store& store, const Post& push,
                                  const std::stop_token& stop) {
    return SourceFeed{source, options, store, push}.run(stop);
}

} // namespace sluice::engine
