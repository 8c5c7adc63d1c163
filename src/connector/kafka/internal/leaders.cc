#include "connector/kafka/internal/leaders.h"

#include <memory>
#include <span>

namespace sluice::connector::kafka::internal {

Result<void> Leaders::ask_for(const std::string& topic, Nanos wait) {
    auto handle = std::unique_ptr<rd_kafka_topic_t, decltype(&rd_kafka_topic_destroy)>{
        rd_kafka_topic_new(client_, topic.c_str(), nullptr), rd_kafka_topic_destroy};
    const rd_kafka_metadata_t* found = nullptr;
    auto code = rd_kafka_metadata(client_, 0, handle.get(), &found, to_milliseconds(wait));
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
        note(*found);
        code =
            found->topic_cnt == 1 ? found->topics[0].err : RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
        rd_kafka_metadata_destroy(found);
    }
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return fail(errc_of(code), "topic {}: {}", topic, rd_kafka_err2str(code));
    }
    return {};
}

void Leaders::note(const rd_kafka_metadata_t& metadata) {
    auto size = [](int count) { return static_cast<std::size_t>(count); };
    for (const auto& broker : std::span{metadata.brokers, size(metadata.broker_cnt)}) {
        places_[broker.id] = {.host = broker.host, .port = static_cast<std::uint16_t>(broker.port)};
    }
    for (const auto& topic : std::span{metadata.topics, size(metadata.topic_cnt)}) {
        for (const auto& partition : std::span{topic.partitions, size(topic.partition_cnt)}) {
            topics_[topic.topic][partition.id] = partition.leader;
        }
    }
}

Leaders::Broker Leaders::of(const PartitionName& name) const {
    auto topic = topics_.find(name.topic);
    if (topic == topics_.end()) {
        return nobody;
    }
    auto found = topic->second.find(name.partition);
    return found == topic->second.end() || !places_.contains(found->second) ? nobody
                                                                            : found->second;
}

reactor::ByteStream::Place Leaders::place_of(Broker broker) const {
    return places_.at(broker);
}

void Leaders::forget(const PartitionName& name) {
    topics_[name.topic].erase(name.partition);
}

Result<std::int64_t> Leaders::resolve(const PartitionName& name, std::int64_t logical,
                                      Nanos wait) const {
    auto low = std::int64_t{0};
    auto high = std::int64_t{0};
    auto code = rd_kafka_query_watermark_offsets(client_, name.topic.c_str(), name.partition, &low,
                                                 &high, to_milliseconds(wait));
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return fail(errc_of(code), "{}: {}", name.text(), rd_kafka_err2str(code));
    }
    return logical == RD_KAFKA_OFFSET_END ? high : low;
}

} // namespace sluice::connector::kafka::internal
