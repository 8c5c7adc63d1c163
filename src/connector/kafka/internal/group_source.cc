#include "connector/kafka/internal/group_source.h"

#include <chrono>
#include <span>

namespace sluice::connector::kafka::internal {

using namespace std::chrono_literals;

namespace {

constexpr auto committed_wait_max = 5000; // ms
constexpr auto seek_wait_max = 3000;      // ms
constexpr auto close_wait_max = Nanos{3s};
constexpr auto close_step = 100; // ms

void drop(rd_kafka_error_t* error) {
    if (error != nullptr) {
        rd_kafka_error_destroy(error);
    }
}

std::span<rd_kafka_topic_partition_t> entries(rd_kafka_topic_partition_list_t& list) {
    return {list.elems, static_cast<std::size_t>(list.cnt)};
}

} // namespace

Result<std::unique_ptr<GroupSource>> GroupSource::open(std::string name, const Options& options,
                                                       observe::Diagnostics& diag) {
    auto source = std::unique_ptr<GroupSource>{new GroupSource{std::move(name), options, diag}};
    TRY(source->connect());
    auto topics = List{rd_kafka_topic_partition_list_new(static_cast<int>(options.topics.size()))};
    for (const auto& topic : options.topics) {
        rd_kafka_topic_partition_list_add(topics.get(), topic.c_str(), RD_KAFKA_PARTITION_UA);
    }
    auto code = rd_kafka_subscribe(source->handle(), topics.get());
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return fail(errc_of(code), "the topics cannot be subscribed to: {}",
                    rd_kafka_err2str(code));
    }
    return source;
}

GroupSource::~GroupSource() {
    if (queue() != nullptr) {
        partitions_.each([](Partition& partition) { partition.drop_waiting(); });
        auto end = steady_now() + close_wait_max;
        auto closing = Queue{rd_kafka_queue_new(handle())};
        drop(rd_kafka_consumer_close_queue(handle(), closing.get()));
        while (rd_kafka_consumer_closed(handle()) == 0 && steady_now() < end) {
            rd_kafka_queue_poll_callback(closing.get(), close_step);
        }
    }
    disconnect();
}

bool GroupSource::is_cooperative() const {
    const auto* protocol = rd_kafka_rebalance_protocol(handle());
    return protocol != nullptr && std::string_view{protocol} == "COOPERATIVE";
}

void GroupSource::on_rebalance(rd_kafka_resp_err_t code, rd_kafka_topic_partition_list_t& list) {
    if (code == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
        take_over(list);
        return;
    }
    give_up(list);
    if (code != RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS) {
        trouble_ = rd_kafka_err2str(code);
    }
}

void GroupSource::take_over(rd_kafka_topic_partition_list_t& list) {
    auto code = rd_kafka_committed(handle(), &list, committed_wait_max);
    for (auto& entry : entries(list)) {
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR && entry.err == RD_KAFKA_RESP_ERR_NO_ERROR &&
            entry.offset < 0) {
            // Never read by the group.
            entry.offset = start_offset();
        }
        auto& partition = partitions_.make({.topic = entry.topic, .partition = entry.partition});
        auto was_left = partition.is_left;
        partitions_.unassign(partition);
        partition.assign(entry.offset);
        partition.is_left = was_left;
    }
    if (is_cooperative()) {
        drop(rd_kafka_incremental_assign(handle(), &list));
    } else {
        rd_kafka_assign(handle(), &list);
    }
    partitions_.each([&](Partition& partition) {
        if (partition.is_assigned && partition.is_left) {
            pause(partition);
        }
    });
}

void GroupSource::give_up(rd_kafka_topic_partition_list_t& list) {
    if (rd_kafka_assignment_lost(handle()) == 0) {
        commit();
    }
    for (auto& entry : entries(list)) {
        if (auto* partition = partitions_.find(entry.topic, entry.partition)) {
            forget_fault(*partition);
            partitions_.unassign(*partition);
        }
    }
    if (is_cooperative()) {
        drop(rd_kafka_incremental_unassign(handle(), &list));
    } else {
        rd_kafka_assign(handle(), nullptr);
    }
}

void GroupSource::pause(const Partition& partition) {
    rd_kafka_pause_partitions(handle(), list_of(partition.name, RD_KAFKA_OFFSET_INVALID).get());
}

void GroupSource::leave(std::string_view partition) {
    auto name = parse_partition_name(partition);
    if (!name) {
        return;
    }
    auto& found = partitions_.make(*name);
    found.is_left = true;
    forget_fault(found);
    if (found.is_assigned) {
        commit();
        pause(found);
        found.drop_waiting();
    }
}

Result<void> GroupSource::resume(std::string_view partition, std::uint64_t /*position*/) {
    auto& found = partitions_.make(TRY(parse_partition_name(partition)));
    if (!std::exchange(found.is_left, false) || !found.is_assigned) {
        return {};
    }
    // What was not confirmed comes again.
    auto offset = found.confirmed != Partition::none ? found.confirmed : found.begin;
    auto list = list_of(found.name, offset != Partition::none ? offset : start_offset());
    rd_kafka_resume_partitions(handle(), list.get());
    auto committed = found.confirmed;
    found.assign(offset);
    found.confirmed = committed;
    found.committed = committed;
    if (auto* error = rd_kafka_seek_partitions(handle(), list.get(), seek_wait_max)) {
        auto text = std::string{rd_kafka_error_string(error)};
        rd_kafka_error_destroy(error);
        return fail(Errc::Unavailable, "{} cannot be read again: {}", found.text, text);
    }
    return {};
}

std::uint64_t GroupSource::number_of(Partition& partition, std::int64_t offset) {
    if (!partition.shift) {
        partition.shift = static_cast<std::int64_t>(partition.last) + 1 - offset;
    }
    return static_cast<std::uint64_t>(offset + *partition.shift);
}

std::int64_t GroupSource::offset_behind(const Partition& partition, std::uint64_t number) const {
    if (number < partition.first || number > partition.last || !partition.shift) {
        return Partition::none;
    }
    return static_cast<std::int64_t>(number) - *partition.shift + 1;
}

} // namespace sluice::connector::kafka::internal
