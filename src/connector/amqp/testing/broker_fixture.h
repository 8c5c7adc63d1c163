#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "connector/amqp/internal/connection.h"
#include "connector/amqp/options.h"
#include "connector/amqp/producer.h"
#include "connector/amqp/source.h"
#include "connector/amqp/testing/rabbitmq_server.h"
#include "event/source.h"
#include "observe/testing/captured_diagnostics.h"

namespace sluice::connector::amqp::testing {

/// A record with its text.
struct Read {
    std::string partition;
    std::uint64_t number = 0;
    std::string text;
    std::string fault;
};

/// The ways by which a stream can be read.
enum class StreamWay : std::uint8_t { ByStreamProtocol, ByAmqp };
/// For the names of tests.
std::string to_string(StreamWay way);

/// An event whose id is this number.
std::string event_json(std::uint64_t id, std::size_t bytes = 0);

/// Tests that need a broker: skipped with the reason where there is none.
class BrokerFixture : public ::testing::Test {
protected:
    using Steady = std::chrono::steady_clock;

    void SetUp() override;
    void TearDown() override;

    /// Of the type, for one queue of this test's own, which is made.
    Options queue_options(QueueType type);
    /// A stream that is read this way.
    Options stream_options(StreamWay way);
    /// The same with what else the options say.
    Options queue_options(Options options);
    /// That reading did not change over to AMQP.
    void expect_no_change_of_way() const;
    void declare(const Options& options, const std::string& queue);
    void remove(const std::string& queue);
    internal::Connection connect();

    /// Events `first` to `last` by a producer, all confirmed.
    void publish(const Options& options, const std::string& queue, std::uint64_t first,
                 std::uint64_t last, std::size_t bytes = 0);
    /// One message as it is, confirmed.
    void publish_raw(const std::string& queue, const amqp_basic_properties_t& properties,
                     std::string_view body);
    /// Until so many have come, or 30 seconds are over.
    std::vector<Read> read(event::Source& source, std::size_t count);
    static void append(std::vector<Read>& reads, const event::Chunk& chunk);
    static bool wait_until(const std::function<bool()>& is_done, int seconds = 30);

    RabbitmqServer* server_ = nullptr;
    observe::testing::CapturedDiagnostics diagnostics_;

private:
    std::vector<std::string> queues_;
};

} // namespace sluice::connector::amqp::testing
