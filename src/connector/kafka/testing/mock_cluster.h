#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include "connector/kafka/options.h"

namespace sluice::connector::kafka::testing {

/// Brokers inside this process (librdkafka's own), for protocol and faults. A partition keeps about
/// 5 MB, and topics are not made by clients.
class MockCluster {
public:
    explicit MockCluster(int brokers = 1);
    ~MockCluster();
    MockCluster(const MockCluster&) = delete;
    MockCluster& operator=(const MockCluster&) = delete;

    /// `kafka://…/prefix`.
    std::string url(std::string_view prefix = "sluice") const;
    Options options(std::string_view prefix = "sluice") const;
    void make_topic(const std::string& topic, int partitions);
    rd_kafka_mock_cluster_t* get() const { return cluster_; }

    struct Header {
        std::string name;
        std::string value;
    };
    /// One message of somebody else; a value that is null when `has_value` is false.
    void put(const std::string& topic, int partition, const std::string& value,
             const std::vector<Header>& headers = {}, bool has_value = true);

private:
    rd_kafka_t* handle_ = nullptr;
    rd_kafka_mock_cluster_t* cluster_ = nullptr;
};

} // namespace sluice::connector::kafka::testing
