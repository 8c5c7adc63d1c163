#include <algorithm>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>

#include "engine/feed.h"
#include "engine/keys.h"
#include "engine/run_records.h"
#include "event/codec.h"

namespace sluice::engine {

namespace {

constexpr auto chunk_bytes = std::size_t{512 * 1024};
// A source is not read further ahead of what is durable.
constexpr auto chunks_under_way_max = std::size_t{32};
// After as many, shards that nothing was for are told how far the partition is.
constexpr auto chunks_between_moves = std::uint64_t{64};

/// Counts what is under way, and confirms a partition up to the oldest of it.
class Progress {
public:
    void begin(std::uint64_t first, std::uint64_t last, std::size_t parts) {
        auto lock = std::lock_guard{mutex_};
        highest_ = std::max(highest_, last);
        if (parts > 0) {
            under_way_[first] = parts;
        }
    }

    template <typename T>
    void finish(std::uint64_t first, const Result<T>& result) {
        auto lock = std::lock_guard{mutex_};
        if (!result) {
            // It stays under way: nothing from there on is confirmed.
            error_ = error_ ? error_ : result.error();
        } else if (auto found = under_way_.find(first); --found->second == 0) {
            under_way_.erase(found);
        }
        changed_.notify_all();
    }

    /// All up to here are durable.
    std::uint64_t confirmed() {
        auto lock = std::lock_guard{mutex_};
        return under_way_.empty() ? highest_ : under_way_.begin()->first - 1;
    }

    /// Until fewer are under way than this. False when it was stopped before.
    Result<bool> wait_for_fewer_than(std::size_t count, const std::stop_token& stop) {
        auto lock = std::unique_lock{mutex_};
        auto is_over = changed_.wait(
            lock, stop, [&] { return under_way_.size() < count || error_.has_value(); });
        if (error_) {
            return std::unexpected(*error_);
        }
        return is_over;
    }

private:
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::map<std::uint64_t, std::size_t> under_way_; ///< Parts of a chunk, by its first number.
    std::uint64_t highest_ = 0;
    std::optional<Error> error_;
};

/// One reading of a source: its chunks to the shards, in order.
class SourceFeed {
public:
    SourceFeed(event::Source& source, const std::string& space, std::uint16_t shard_count,
               std::vector<std::uint64_t> positions, const Post& push)
        : source_(source),
          space_(space),
          shard_count_(shard_count),
          positions_(std::move(positions)),
          push_(push) {}

    Result<std::uint64_t> run(const std::stop_token& stop) {
        auto is_going_on = true;
        auto chunks = std::uint64_t{0};
        while (is_going_on) {
            is_going_on = TRY(progress_->wait_for_fewer_than(chunks_under_way_max, stop));
            auto chunk = is_going_on ? TRY(source_.read(chunk_bytes)) : event::Chunk{};
            if (chunk.size == 0) {
                break;
            }
            TRY(hand_out(chunk));
            source_.confirm(chunk.partition, progress_->confirmed());
            if (++chunks % chunks_between_moves == 0) {
                move_along(false);
            }
        }
        TRY(finish(stop));
        return count_;
    }

private:
    using Parts = std::map<ShardId, EventsInput>;

    Result<void> hand_out(const event::Chunk& chunk) {
        if (chunk.first != 0 && chunk.partition != source_.name()) {
            return fail(Errc::InvalidInput, "source {} gave events of {}: expected its own",
                        source_.name(), chunk.partition);
        }
        auto last = std::uint64_t{0};
        auto parts = TRY(split(chunk, last));
        auto first = chunk.first == 0 ? unnumbered_ + 1 : chunk.first;
        (chunk.first == 0 ? unnumbered_ : last_) = last;
        progress_->begin(first, last, parts.size());
        for (auto& [shard, part] : parts) {
            count_ += part.events.size();
            part.done = [progress = progress_, first](const Result<Receipt>& receipt) {
                progress->finish(first, receipt);
            };
            push_(std::move(part));
        }
        return {};
    }

    /// What its shard has taken before is left out.
    Result<Parts> split(const event::Chunk& chunk, std::uint64_t& last) {
        auto parts = Parts{};
        auto text = std::string_view{*chunk.bytes}.substr(0, chunk.size);
        auto is_numbered = chunk.first != 0;
        last = is_numbered ? chunk.first - 1 : unnumbered_;
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
            ++last;
            auto event = codec_.parse_shared(line, chunk.bytes);
            if (!event) {
                return fail(event.error().code, "{} event {}: {}", chunk.partition, last,
                            event.error().message);
            }
            TRY(check_event(*event));
            if (event->run() != last_run) {
                last_run = event->run();
                shard = shard_of({.space = space_, .id = last_run}, shard_count_);
                part = nullptr;
            }
            if (is_numbered && last <= positions_[shard.raw()]) {
                source_.pass_over(chunk.partition, last);
                continue;
            }
            if (part == nullptr) {
                part = &parts[shard];
                part->shard = shard;
                part->space = space_;
                part->partition = is_numbered ? chunk.partition : std::string{};
            }
            part->events.push_back(*std::move(event));
            if (is_numbered) {
                part->numbers.push_back(last);
            }
        }
        return parts;
    }

    /// Each shard hears how far the partition is, so that reading resumes there and not where the
    /// shard last had an event of it.
    void move_along(bool is_awaited) {
        for (auto shard = std::uint16_t{0}; shard < shard_count_; ++shard) {
            auto input = MoveInput{
                .shard = ShardId{shard}, .partition = std::string{source_.name()}, .number = last_};
            if (is_awaited) {
                input.done = [progress = progress_, first = last_](const Result<Value>& moved) {
                    progress->finish(first, moved);
                };
            }
            push_(std::move(input));
        }
    }

    Result<void> finish(const std::stop_token& stop) {
        if (!TRY(progress_->wait_for_fewer_than(1, stop))) {
            for (auto shard = std::uint16_t{0}; shard < shard_count_; ++shard) {
                push_(
                    LeaveInput{.shard = ShardId{shard}, .partition = std::string{source_.name()}});
            }
        }
        std::ignore = TRY(progress_->wait_for_fewer_than(1, {}));
        source_.confirm(source_.name(), progress_->confirmed());
        if (last_ > *std::ranges::min_element(positions_)) {
            progress_->begin(last_, last_, shard_count_);
            move_along(true);
            std::ignore = TRY(progress_->wait_for_fewer_than(1, {}));
        }
        return {};
    }

    event::Source& source_;
    const std::string& space_;
    std::uint16_t shard_count_;
    std::vector<std::uint64_t> positions_; ///< Of each shard when it began.
    const Post& push_;
    event::Codec codec_;
    std::shared_ptr<Progress> progress_ = std::make_shared<Progress>();
    std::uint64_t last_ = 0; ///< Number handed out last.
    std::uint64_t unnumbered_ = 0;
    std::uint64_t count_ = 0;
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

Result<std::uint64_t> feed_source(event::Source& source, const std::string& space,
                                  const store::Store& store, const Post& push,
                                  const std::stop_token& stop) {
    auto positions = TRY(positions_of(store, source.name()));
    TRY(source.resume(source.name(), *std::ranges::min_element(positions)));
    return SourceFeed{source, space, store.shard_count(), std::move(positions), push}.run(stop);
}

} // namespace sluice::engine
