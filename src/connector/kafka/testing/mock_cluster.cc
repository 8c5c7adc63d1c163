#include "connector/kafka/testing/mock_cluster.h"

#include <array>

#include <fmt/format.h>

#include "base/invariant.h"

namespace sluice::connector::kafka::testing {

MockCluster::MockCluster(int brokers) {
    auto text = std::array<char, 256>{};
    auto* conf = rd_kafka_conf_new();
    rd_kafka_conf_set_log_cb(conf, nullptr);
    rd_kafka_conf_set(conf, "message.max.bytes", "4000000", text.data(), text.size());
    handle_ = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text.data(), text.size());
    INVARIANT(handle_ != nullptr, "a client without settings can be made");
    cluster_ = rd_kafka_mock_cluster_new(handle_, brokers);
    INVARIANT(cluster_ != nullptr, "a mock cluster can be made");
    rd_kafka_brokers_add(handle_, rd_kafka_mock_cluster_bootstraps(cluster_));
}

MockCluster::~MockCluster() {
    rd_kafka_mock_cluster_destroy(cluster_);
    rd_kafka_destroy(handle_);
}

std::string MockCluster::url(std::string_view prefix) const {
    return fmt::format("kafka://{}/{}", rd_kafka_mock_cluster_bootstraps(cluster_), prefix);
}

Options MockCluster::options(std::string_view prefix) const {
    auto options = parse_url(url(prefix));
    INVARIANT(options.has_value(), "the cluster's own URL is one");
    return *options;
}

void MockCluster::make_topic(const std::string& topic, int partitions) {
    rd_kafka_mock_topic_create(cluster_, topic.c_str(), partitions, 1);
}

void MockCluster::put(const std::string& topic, int partition, const std::string& value,
                      const std::vector<Header>& headers, bool has_value) {
    auto* list = rd_kafka_headers_new(headers.size());
    for (const auto& header : headers) {
        rd_kafka_header_add(list, header.name.data(), static_cast<ssize_t>(header.name.size()),
                            header.value.data(), static_cast<ssize_t>(header.value.size()));
    }
    auto values = std::array<rd_kafka_vu_t, 5>{};
    values[0] = {.vtype = RD_KAFKA_VTYPE_TOPIC, .u = {.cstr = topic.c_str()}};
    values[1] = {.vtype = RD_KAFKA_VTYPE_PARTITION, .u = {.i32 = partition}};
    values[2] = {.vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u = {.i = RD_KAFKA_MSG_F_COPY}};
    values[3].vtype = RD_KAFKA_VTYPE_VALUE;
    values[3].u.mem.ptr = has_value ? const_cast<char*>(value.data()) : nullptr;
    values[3].u.mem.size = has_value ? value.size() : 0;
    values[4] = {.vtype = RD_KAFKA_VTYPE_HEADERS, .u = {.headers = list}};
    auto* error = rd_kafka_produceva(handle_, values.data(), values.size());
    INVARIANT(error == nullptr, "a mock takes messages");
    rd_kafka_flush(handle_, 10000);
}

} // namespace sluice::connector::kafka::testing
