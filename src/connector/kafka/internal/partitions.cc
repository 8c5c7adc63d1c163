#include "connector/kafka/internal/partitions.h"

#include <algorithm>

namespace sluice::connector::kafka::internal {

void Partition::assign(std::int64_t offset) {
    drop_waiting();
    is_assigned = true;
    is_left = false;
    start = offset;
    begin = offset < 0 ? none : offset;
    next = begin;
    fetched = begin;
    confirmed = none;
    committed = none;
    end = none;
    shift.reset();
    first = last + 1;
}

void Partition::drop_waiting() {
    waiting.clear();
    taken = 0;
    records.clear();
    fetched = next;
}

Partition* Partitions::find(std::string_view topic, std::int32_t number) {
    auto found = topics_.find(topic);
    if (found == topics_.end() || number < 0 ||
        static_cast<std::size_t>(number) >= found->second.size()) {
        return nullptr;
    }
    return found->second[static_cast<std::size_t>(number)].get();
}

Partition* Partitions::find(std::string_view text) {
    auto name = parse_partition_name(text);
    return name ? find(name->topic, name->partition) : nullptr;
}

Partition& Partitions::make(const PartitionName& name) {
    auto& partitions = topics_[name.topic];
    auto at = static_cast<std::size_t>(name.partition);
    if (at >= partitions.size()) {
        partitions.resize(at + 1);
    }
    if (partitions[at] == nullptr) {
        partitions[at] = std::make_unique<Partition>(Partition{.name = name, .text = name.text()});
    }
    return *partitions[at];
}

void Partitions::add(Message message) {
    auto* partition = find(rd_kafka_topic_name(message->rkt), message->partition);
    if (partition == nullptr || !partition->is_assigned || partition->is_left ||
        message->offset < partition->fetched) {
        return;
    }
    if (partition->begin == Partition::none) {
        partition->begin = message->offset;
    }
    if (!partition->has_waiting()) {
        turns_.push_back(partition);
    }
    partition->fetched = message->offset + 1;
    partition->waiting.push_back(std::move(message));
}

void Partitions::add(Partition& partition, FetchedRecords records) {
    if (!partition.has_waiting()) {
        turns_.push_back(&partition);
    }
    partition.records.push_back(std::move(records));
}

Partition* Partitions::first_waiting() {
    while (!turns_.empty() && !turns_.front()->has_waiting()) {
        turns_.front()->waiting.clear();
        turns_.front()->taken = 0;
        turns_.pop_front();
    }
    return turns_.empty() ? nullptr : turns_.front();
}

void Partitions::unassign(Partition& partition) {
    partition.is_assigned = false;
    partition.drop_waiting();
    std::erase(turns_, &partition);
}

} // namespace sluice::connector::kafka::internal
