#include "connector/kafka/internal/position_source.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>

namespace sluice::connector::kafka::internal {

using namespace std::chrono_literals;

namespace {

constexpr auto check_wait_max = 3000; // ms
constexpr auto missing_wait_max = Nanos{2s};
constexpr auto missing_pause = 100ms;
constexpr auto refresh_wait_max = Nanos{1s};
constexpr auto partitions_wait_max = Nanos{5s};
constexpr auto refresh_interval_usual = 30000; // ms
constexpr auto refresh_property = "topic.metadata.refresh.interval.ms";

bool is_missing(rd_kafka_resp_err_t code) {
    return errc_of(code) == Errc::NotFound;
}

} // namespace

PositionSource::PositionSource(std::string name, const Options& options, Scope scope,
                               observe::Diagnostics& diag)
    : Reader(std::move(name), options, diag), scope_(scope) {}

Result<std::unique_ptr<PositionSource>> PositionSource::open(std::string name,
                                                             const Options& options, Scope scope,
                                                             observe::Diagnostics& diag) {
    auto source =
        std::unique_ptr<PositionSource>{new PositionSource{std::move(name), options, scope, diag}};
    TRY(source->connect());
    if (Fetcher::suits(options)) {
        source->fetcher_ = std::make_unique<FetchThread>(source->handle(), source->options_);
    }
    source->refresh_interval_ =
        std::chrono::milliseconds{options.settings.contains(refresh_property)
                                      ? std::max<std::int64_t>(source->number(refresh_property), 10)
                                      : refresh_interval_usual};
    if (scope == Scope::Topics) {
        for (const auto& topic : options.topics) {
            source->topics_.push_back(rd_kafka_topic_new(source->handle(), topic.c_str(), nullptr));
        }
    }
    return source;
}

PositionSource::~PositionSource() {
    fetcher_.reset();
    std::ranges::for_each(topics_, rd_kafka_topic_destroy);
    disconnect();
}

Result<void> PositionSource::resume(std::string_view partition, std::uint64_t position) {
    auto name = TRY(parse_partition_name(partition));
    if (scope_ == Scope::Topics &&
        std::ranges::find(options_.topics, name.topic) == options_.topics.end()) {
        return fail(Errc::InvalidInput, "{} is no partition of the topics that are read here",
                    partition);
    }
    if (position > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) - 1) {
        return fail(Errc::InvalidInput, "{} is no position of a partition", position);
    }
    leave(partition);
    auto& found = partitions_.make(name);
    if (position == 0 && scope_ == Scope::Topics) {
        return assign(found, start_offset());
    }
    auto offset = static_cast<std::int64_t>(position);
    TRY(check_held(name, offset));
    return assign(found, offset);
}

Result<void> PositionSource::check_held(const PartitionName& name, std::int64_t offset) {
    if (!trouble_.empty()) {
        return {}; // It shows when it is read.
    }
    auto low = std::int64_t{0};
    auto high = std::int64_t{0};
    auto query = [&] {
        return rd_kafka_query_watermark_offsets(handle(), name.topic.c_str(), name.partition, &low,
                                                &high, check_wait_max);
    };
    auto code = query();
    // A topic that was made just now is not known to all brokers yet.
    for (auto end = steady_now() + missing_wait_max; is_missing(code) && steady_now() < end;) {
        std::this_thread::sleep_for(missing_pause);
        code = query();
    }
    if (is_missing(code)) {
        return fail(Errc::NotFound, "{} is not there: {}", name.text(), rd_kafka_err2str(code));
    }
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        trouble_ = rd_kafka_err2str(code);
        return {};
    }
    // Whether one is too high only the reading tells: a new leader may know of less for a moment.
    if (offset < low) {
        return fail(Errc::NotFound,
                    "{} cannot be read on from offset {}: the broker has offsets {} to {}, older "
                    "ones were removed",
                    name.text(), offset, low, high);
    }
    return {};
}

Result<void> PositionSource::assign(Partition& partition, std::int64_t offset) {
    if (fetcher_) {
        partition.term = fetcher_->begin(partition.name, offset);
    } else {
        TRY(assign_to_client(partition.name, offset));
    }
    partition.assign(offset);
    return {};
}

Result<void> PositionSource::assign_to_client(const PartitionName& name, std::int64_t offset) {
    auto list = list_of(name, offset);
    if (auto* error = rd_kafka_incremental_assign(handle(), list.get())) {
        auto text = std::string{rd_kafka_error_string(error)};
        rd_kafka_error_destroy(error);
        return fail(Errc::Internal, "{} cannot be read: {}", name.text(), text);
    }
    return {};
}

Result<event::Chunk> PositionSource::next_chunk(std::size_t bytes_max) {
    if (!fetcher_) {
        return Reader::next_chunk(bytes_max);
    }
    while (auto* partition = partitions_.first_waiting()) {
        auto chunk = partition->records.front().take(builder_, bytes_max);
        if (!chunk) {
            hand_to_client(chunk.error());
            return event::Chunk{};
        }
        if (chunk->records.empty()) {
            partition->records.pop_front();
            continue;
        }
        chunk->partition = partition->text;
        partition->last = chunk->records.back().number;
        partition->next = static_cast<std::int64_t>(partition->last);
        return chunk;
    }
    return event::Chunk{};
}

void PositionSource::poll(Nanos wait) {
    if (!fetcher_) {
        Reader::poll(wait);
        return;
    }
    hear_client();
    auto deliveries = fetcher_->take(std::min(wait, Nanos{200ms}));
    if (!deliveries) {
        hand_to_client(deliveries.error());
        return;
    }
    for (auto& delivery : *deliveries) {
        take(std::move(delivery));
    }
    auto trouble = fetcher_->trouble();
    if (!trouble.empty() || is_fetcher_troubled_) {
        is_fetcher_troubled_ = !trouble.empty();
        trouble_ = std::move(trouble);
    }
}

void PositionSource::take(Fetcher::Delivery&& delivery) {
    auto* partition = partitions_.find(delivery.name.topic, delivery.name.partition);
    if (partition == nullptr || !partition->is_assigned || partition->term != delivery.term) {
        return;
    }
    if (delivery.error == RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE) {
        fetcher_->end(delivery.name);
        partition->fetched = delivery.from;
        stop_behind(*partition, rd_kafka_err2str(RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE));
        return;
    }
    if (delivery.error != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return; // It is tried again.
    }
    if (partition->begin == Partition::none) {
        partition->begin = delivery.from;
        partition->next = delivery.from;
    }
    partition->end = delivery.end;
    partition->fetched = delivery.next;
    if (delivery.next > delivery.from) {
        partitions_.add(*partition, std::move(delivery.records));
    }
}

void PositionSource::hand_to_client(const Error& why) {
    diag_.warn("partitions are read by librdkafka from here on",
               {{"source", name()}, {"why", why.message}});
    fetcher_.reset();
    partitions_.each([&](Partition& partition) {
        if (!partition.is_assigned) {
            return;
        }
        partition.drop_waiting();
        auto offset = partition.next == Partition::none ? partition.start : partition.next;
        if (auto done = assign_to_client(partition.name, offset); !done) {
            stop_at(partition, done.error());
        }
    });
}

void PositionSource::leave(std::string_view partition) {
    auto name = parse_partition_name(partition);
    if (!name) {
        return;
    }
    auto* found = partitions_.find(name->topic, name->partition);
    if (found == nullptr) {
        if (scope_ == Scope::Topics) {
            partitions_.make(*name).is_left = true;
        }
        return;
    }
    forget_fault(*found);
    if (found->is_assigned) {
        commit();
        partitions_.unassign(*found);
        if (fetcher_) {
            fetcher_->end(*name);
        } else if (auto* error = rd_kafka_incremental_unassign(
                       handle(), list_of(*name, RD_KAFKA_OFFSET_INVALID).get())) {
            rd_kafka_error_destroy(error);
        }
    }
    found->is_left = true;
}

void PositionSource::tend(Nanos wait) {
    if (topics_.empty() || steady_now() < refresh_at_) {
        return;
    }
    auto is_whole = true;
    for (auto* topic : topics_) {
        is_whole = find_partitions(topic, wait) && is_whole;
    }
    has_begun_ = has_begun_ || is_whole;
    refresh_at_ = steady_now() + (is_whole ? refresh_interval_ : Nanos{1s});
}

Result<std::vector<std::string>> PositionSource::partitions() {
    auto names = std::vector<std::string>{};
    for (auto* topic : topics_) {
        auto count = count_partitions(topic, partitions_wait_max);
        if (!count && count.error().code == Errc::Unavailable) {
            return std::unexpected(count.error());
        }
        for (auto number = 0; number < count.value_or(0); ++number) {
            auto name = PartitionName{.topic = rd_kafka_topic_name(topic), .partition = number};
            names.push_back(name.text());
        }
    }
    return names;
}

Result<int> PositionSource::count_partitions(rd_kafka_topic_t* topic, Nanos wait) {
    const rd_kafka_metadata_t* metadata = nullptr;
    auto code = rd_kafka_metadata(handle(), 0, topic, &metadata, to_milliseconds(wait));
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return fail(Errc::Unavailable, "topic {}: {}", rd_kafka_topic_name(topic),
                    rd_kafka_err2str(code));
    }
    auto count = metadata->topic_cnt == 1 ? metadata->topics[0].partition_cnt : 0;
    code = metadata->topic_cnt == 1 ? metadata->topics[0].err
                                    : RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
    rd_kafka_metadata_destroy(metadata);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR || count == 0) {
        return fail(Errc::NotFound, "topic {}: {}", rd_kafka_topic_name(topic),
                    rd_kafka_err2str(code));
    }
    return count;
}

bool PositionSource::find_partitions(rd_kafka_topic_t* topic, Nanos wait) {
    auto count = count_partitions(topic, std::clamp(wait, Nanos{20ms}, refresh_wait_max));
    if (!count) {
        trouble_ = count.error().message;
        return false;
    }
    auto name = std::string{rd_kafka_topic_name(topic)};
    auto offset = has_begun_ ? RD_KAFKA_OFFSET_BEGINNING : start_offset();
    for (auto number = 0; number < *count; ++number) {
        auto& partition = partitions_.make({.topic = name, .partition = number});
        if (partition.is_assigned || partition.is_left) {
            continue;
        }
        if (auto done = assign(partition, offset); !done) {
            trouble_ = done.error().message;
            return false;
        }
    }
    return true;
}

std::uint64_t PositionSource::number_of(Partition& /*partition*/, std::int64_t offset) {
    return static_cast<std::uint64_t>(offset) + 1;
}

std::int64_t PositionSource::offset_behind(const Partition& partition, std::uint64_t number) const {
    auto offset = static_cast<std::int64_t>(
        std::min(number, static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())));
    // Nothing is confirmed that was not read; what lies before the beginning was so already.
    return partition.next == Partition::none ? Partition::none : std::min(offset, partition.next);
}

} // namespace sluice::connector::kafka::internal
