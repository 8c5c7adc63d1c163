#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "connector/kafka/internal/client.h"
#include "connector/kafka/internal/names.h"
#include "reactor/byte_stream.h"

namespace sluice::connector::kafka::internal {

/// Which broker leads which partition, as the brokers tell a client of the library.
class Leaders {
public:
    using Broker = std::int32_t;
    static constexpr Broker nobody = -1;

    /// The client outlives it.
    explicit Leaders(rd_kafka_t* client) : client_(client) {}

    /// Asks for all partitions of a topic. Waits at most this long.
    Result<void> ask_for(const std::string& topic, Nanos wait);
    /// As last heard.
    Broker of(const PartitionName& name) const;
    reactor::ByteStream::Place place_of(Broker broker) const;
    void forget(const PartitionName& name);
    /// The offset that a logical one stands for.
    Result<std::int64_t> resolve(const PartitionName& name, std::int64_t logical, Nanos wait) const;

private:
    void note(const rd_kafka_metadata_t& metadata);

    rd_kafka_t* client_;
    std::map<Broker, reactor::ByteStream::Place> places_;
    std::map<std::string, std::map<std::int32_t, Broker>, std::less<>> topics_;
};

} // namespace sluice::connector::kafka::internal
