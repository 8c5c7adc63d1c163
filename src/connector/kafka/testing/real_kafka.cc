#include "connector/kafka/testing/real_kafka.h"

#include <atomic>
#include <cstdlib>

#include <fmt/format.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/invariant.h"

namespace sluice::connector::kafka::testing {

std::optional<RealKafka> RealKafka::find() {
    const auto* url = std::getenv("SLUICE_KAFKA_URL");
    const auto* control = std::getenv("SLUICE_KAFKA_CONTROL");
    if (url == nullptr || control == nullptr) {
        return std::nullopt;
    }
    auto kafka = RealKafka{};
    kafka.url_ = url;
    kafka.control_ = std::atoi(control);
    return kafka;
}

std::string_view RealKafka::why_not() {
    return "no real Kafka here: tests/brokers/kafka_connector_test.py fetches and starts one";
}

Options RealKafka::options() const {
    static auto count = std::atomic<int>{0};
    auto options = parse_url(url_);
    INVARIANT(options.has_value(), "the test was given a URL");
    options->prefix =
        fmt::format("test-{}-{}", SystemClock{}.wall().time_since_epoch().count(), ++count);
    return *options;
}

void RealKafka::order(std::string_view what) const {
    auto line = std::string{what} + "\n";
    INVARIANT(write(control_, line.data(), line.size()) == static_cast<ssize_t>(line.size()),
              "whoever started the test listens");
    auto letter = char{0};
    while (letter != '\n') {
        INVARIANT(read(control_, &letter, 1) == 1, "whoever started the test answers");
    }
}

} // namespace sluice::connector::kafka::testing
