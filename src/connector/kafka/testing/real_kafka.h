#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "connector/kafka/options.h"

namespace sluice::connector::kafka::testing {

/// A real Kafka that tests/brokers/kafka_connector_test.py has started and does things to on
/// request.
class RealKafka {
public:
    /// Nothing when this test was not started by that.
    static std::optional<RealKafka> find();
    static std::string_view why_not();

    /// With a topic of its own for every call.
    Options options() const;
    /// `kill`, `start`, `restart`; returns when it is done.
    void order(std::string_view what) const;

private:
    std::string url_;
    int control_ = -1;
};

} // namespace sluice::connector::kafka::testing
