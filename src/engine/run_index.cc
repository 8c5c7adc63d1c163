#include "engine/run_index.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/base64.h"
#include "value/archive.h"

namespace sluice::engine {

namespace {

using keys::IndexOrder;
using keys::IndexPart;
using trigger::Status;

constexpr auto index_format = std::uint8_t{1};
constexpr auto indexed_bytes_max = std::size_t{255};
/// Of entries that a page looks at: some 50 ms.
constexpr auto entries_max = std::size_t{50'000};
constexpr auto statuses = {Status::Running,   Status::Succeeded, Status::Failed,
                           Status::Cancelled, Status::TimedOut,  Status::Queued};

/// No namespace has such a name.
std::string space_listed(std::string_view space, RunsListed listed) {
    return std::string{space}.append(listed == RunsListed::Standing ? "/standing" : "");
}

std::string space_listed(const RunName& run) {
    return space_listed(run.space, trigger::is_standing_run_id(run.id) ? RunsListed::Standing
                                                                       : RunsListed::Started);
}

template <typename Use>
void each_part(const RunSummary& summary, Use use) {
    use(IndexPart{});
    if (!summary.definition.empty()) {
        use(IndexPart{.definition = summary.definition});
    }
    if (!summary.parent.empty()) {
        use(IndexPart{.label = parent_label, .value = summary.parent});
    }
    if (!summary.labels.is_map()) {
        return;
    }
    for (const auto& [label, value] : summary.labels.as_map()) {
        if (!value.is_string()) {
            continue;
        }
        use(IndexPart{.label = label, .value = value.as_string()});
        if (!summary.definition.empty()) {
            use(IndexPart{
                .definition = summary.definition, .label = label, .value = value.as_string()});
        }
    }
}

std::string start_record(Time started) {
    auto record = std::string{};
    auto out = Encoder{record};
    out.u8(index_format);
    out.i64(started.time_since_epoch().count());
    return record;
}

Result<RunSummary> read_summary(std::string_view record) {
    auto in = Decoder{record};
    TRY(in.format(index_format, "run summary"));
    return value::decode_fields<RunSummary>(in);
}

/// Runs of one shard, status and part, in order.
struct Range {
    ShardId shard;
    Status status = Status::Running;
    std::size_t prefix_bytes = 0;
    std::unique_ptr<store::Cursor> cursor;

    /// Time and id: ranges are merged by it.
    std::string_view place() const { return cursor->key().substr(prefix_bytes); }
};

/// Bounds of the time that a list is ordered by.
struct Bounds {
    std::optional<Time> since;
    std::optional<Time> until;
    std::string after; ///< The last place of the page before; empty: from the newest.

    std::string from(const std::string& prefix) const {
        auto newest = until ? keys::index_time(*until - Nanos{1}) : std::string{};
        return prefix + std::max(newest, after.empty() ? after : after + '\0');
    }
    std::string to(const std::string& prefix) const {
        return since ? prefix + keys::index_time(*since - Nanos{1}) : keys::end_of(prefix);
    }
};

class Lister {
public:
    Lister(const store::Store& store, const RunFilter& filter)
        : store_(store), filter_(filter), space_(space_listed(filter.space, filter.listed)) {
        if (filter.ended_since || filter.ended_until) {
            order_ = IndexOrder::Ended;
        }
    }

    Result<RunPage> list() {
        TRY(open_ranges());
        auto page = RunPage{};
        auto last = std::string{};
        for (auto looked = std::size_t{0};
             !ranges_.empty() && page.runs.size() < filter_.most && looked < entries_max;
             ++looked) {
            std::ranges::pop_heap(ranges_, is_later);
            // A run whose status changed while the ranges were opened may be in two of them.
            if (ranges_.back().place() != last) {
                last = ranges_.back().place();
                TRY(take(ranges_.back(), page));
            }
            TRY(advance());
        }
        if (!ranges_.empty() && !last.empty()) {
            page.cursor = base64_encode(last);
        }
        return page;
    }

private:
    static bool is_end(Status status) {
        return status != Status::Running && status != Status::Queued;
    }

    static bool is_later(const Range& left, const Range& right) {
        return left.place() > right.place();
    }

    Result<void> open_ranges() {
        auto part = IndexPart{.definition = filter_.definition};
        if (!filter_.label.empty()) {
            auto equals = filter_.label.find('=');
            if (equals == 0 || equals == std::string::npos) {
                return fail(Errc::InvalidInput, "label \"{}\": expected key=value", filter_.label);
            }
            part.label = std::string_view{filter_.label}.substr(0, equals);
            part.value = std::string_view{filter_.label}.substr(equals + 1);
        }
        auto longest =
            std::max({space_.size(), part.definition.size(), part.label.size(), part.value.size()});
        if (longest > indexed_bytes_max) {
            return {}; // No run has such a name.
        }
        auto bounds = order_ == IndexOrder::Started
                          ? Bounds{.since = filter_.started_since, .until = filter_.started_until}
                          : Bounds{.since = filter_.ended_since, .until = filter_.ended_until};
        bounds.after = TRY(read_cursor());
        for (auto shard = std::uint16_t{0}; shard < store_.shard_count(); ++shard) {
            for (auto status : statuses) {
                auto is_wanted = !filter_.status || *filter_.status == status;
                if (is_wanted && (order_ == IndexOrder::Started || is_end(status))) {
                    TRY(open_range(ShardId{shard}, status, part, bounds));
                }
            }
        }
        std::ranges::make_heap(ranges_, is_later);
        return {};
    }

    Result<void> open_range(ShardId shard, Status status, const IndexPart& part,
                            const Bounds& bounds) {
        auto prefix = keys::index_part(shard, space_, part, order_, status);
        auto from = bounds.from(prefix);
        auto to = bounds.to(prefix);
        if (from >= to) {
            return {};
        }
        auto range = Range{.shard = shard,
                           .status = status,
                           .prefix_bytes = prefix.size(),
                           .cursor = store_.scan(from, to)};
        if (range.cursor->is_valid()) {
            ranges_.push_back(std::move(range));
            return {};
        }
        return range.cursor->status();
    }

    /// The run at the head of a range, if it is one of those wanted.
    Result<void> take(const Range& range, RunPage& page) const {
        auto in = Decoder{range.place()};
        auto started = Time{Nanos{~TRY(in.i64())}};
        auto size = TRY(in.u8());
        auto id = std::string{TRY(in.raw(size))};
        if (order_ == IndexOrder::Ended) {
            auto value = Decoder{range.cursor->value()};
            TRY(value.format(index_format, "place in the run index"));
            started = Time{Nanos{TRY(value.i64())}};
            if ((filter_.started_since && started < *filter_.started_since) ||
                (filter_.started_until && started >= *filter_.started_until)) {
                return {};
            }
        }
        auto run = RunName{.space = filter_.space, .id = std::move(id)};
        if (auto summary = TRY(find_summary(range, started, run))) {
            page.runs.push_back({.run = std::move(run), .summary = *std::move(summary)});
        }
        return {};
    }

    /// As it is now: it may have ended since the range was opened, or be gone. Nothing when it is
    /// no longer one of those wanted.
    Result<std::optional<RunSummary>> find_summary(const Range& range, Time started,
                                                   const RunName& run) const {
        auto place = keys::index_place(started, run.id);
        auto found = std::optional<RunSummary>{};
        auto look_under = [&](Status status) -> Result<void> {
            auto key =
                keys::index_part(range.shard, space_, {}, IndexOrder::Started, status) + place;
            // Not by `get`, which would load the filters of old files for a key that is there.
            auto record = store_.scan(key, keys::end_of(key));
            if (record->is_valid()) {
                found = TRY(read_summary(record->value()));
            }
            return record->status();
        };
        TRY(look_under(range.status));
        for (auto status : statuses) {
            if (!found && !filter_.status && status != range.status) {
                TRY(look_under(status));
            }
        }
        return found;
    }

    Result<void> advance() {
        auto& range = ranges_.back();
        range.cursor->next();
        if (range.cursor->is_valid()) {
            std::ranges::push_heap(ranges_, is_later);
            return {};
        }
        TRY(range.cursor->status());
        ranges_.pop_back();
        return {};
    }

    Result<std::string> read_cursor() const {
        if (filter_.cursor.empty()) {
            return std::string{};
        }
        auto place = base64_decode(filter_.cursor);
        if (!place || place->size() < sizeof(std::int64_t) + 1) {
            return fail(Errc::InvalidInput,
                        "\"{}\" is no cursor: expected what the page before ended with",
                        filter_.cursor);
        }
        return *std::move(place);
    }

    const store::Store& store_;
    const RunFilter& filter_;
    std::string space_;
    IndexOrder order_ = IndexOrder::Started;
    std::vector<Range> ranges_; ///< A heap, the newest on top.
};

} // namespace

RunSummary summary_of(const trigger::RunState& state) {
    return {.definition = state.info.definition,
            .status = state.progress.status,
            .started = state.info.started,
            .ended = state.progress.ended,
            .labels = state.info.labels,
            .parent = state.info.parent ? state.info.parent->run : ""};
}

void put_listed(const RunSummary& summary, ShardId shard, const RunName& run, store::Batch& batch) {
    auto record = std::string{};
    auto out = Encoder{record};
    out.u8(index_format);
    value::encode_fields(summary, out);
    auto space = space_listed(run);
    auto started = start_record(summary.started);
    each_part(summary, [&](const IndexPart& part) {
        auto entry = [&](IndexOrder order, Time time) {
            return keys::index_entry(shard, space, part, order, summary.status, time, run.id);
        };
        batch.put(entry(IndexOrder::Started, summary.started),
                  part.is_whole() ? std::string_view{record} : "");
        if (summary.ended) {
            batch.put(entry(IndexOrder::Ended, *summary.ended), started);
        }
    });
}

void remove_listed(const RunSummary& summary, ShardId shard, const RunName& run,
                   store::Batch& batch) {
    auto space = space_listed(run);
    each_part(summary, [&](const IndexPart& part) {
        auto entry = [&](IndexOrder order, Time time) {
            return keys::index_entry(shard, space, part, order, summary.status, time, run.id);
        };
        batch.remove(entry(IndexOrder::Started, summary.started));
        if (summary.ended) {
            batch.remove(entry(IndexOrder::Ended, *summary.ended));
        }
    });
}

Result<RunPage> list_runs(const store::Store& store, const RunFilter& filter) {
    return Lister{store, filter}.list();
}

Result<std::size_t> count_runs(const store::Store& store, std::string_view space, Status status,
                               std::size_t most) {
    auto count = std::size_t{0};
    for (auto at = std::uint16_t{0}; at < store.shard_count() && count < most; ++at) {
        auto part = keys::index_part(ShardId{at}, space, {}, IndexOrder::Started, status);
        auto cursor = store.scan(part, keys::end_of(part));
        for (; cursor->is_valid() && count < most; cursor->next()) {
            ++count;
        }
        TRY(cursor->status());
    }
    return count;
}

Result<std::vector<std::string>> listed_definitions(const store::Store& store,
                                                    const std::string& space, Status status) {
    auto names = std::set<std::string>{};
    for (auto at = std::uint16_t{0}; at < store.shard_count(); ++at) {
        auto shard = ShardId{at};
        auto all = keys::index_order(shard, space, IndexOrder::Started);
        auto from = all;
        while (true) {
            // From one definition straight to the next, whatever the number of its runs.
            auto next = store.scan(from, keys::end_of(all));
            if (!next->is_valid()) {
                TRY(next->status());
                break;
            }
            auto in = Decoder{next->key().substr(all.size())};
            auto size = TRY(in.u8());
            auto name = std::string{TRY(in.raw(size))};
            auto part =
                keys::index_part(shard, space, {.definition = name}, IndexOrder::Started, status);
            if (!name.empty() && store.scan(part, keys::end_of(part))->is_valid()) {
                names.insert(name);
            }
            from = keys::end_of(std::string{next->key().substr(0, all.size() + 1 + name.size())});
        }
    }
    return std::vector(names.begin(), names.end());
}

} // namespace sluice::engine
