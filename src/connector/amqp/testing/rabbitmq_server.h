#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "connector/amqp/options.h"
#include "connector/amqp/testing/child_process.h"

namespace sluice::connector::amqp::testing {

/// A real RabbitMQ on free ports of this machine, in a temporary folder that goes with it: user
/// `sluice`, password `open sesame`, with and without TLS, by AMQP and by the stream protocol.
class RabbitmqServer {
public:
    /// Why there can be none here; empty: there can.
    static std::string missing();

    RabbitmqServer();
    ~RabbitmqServer();
    RabbitmqServer(const RabbitmqServer&) = delete;
    RabbitmqServer& operator=(const RabbitmqServer&) = delete;

    /// Empty when it answers, otherwise what it told last. Data and ports stay.
    std::string start();
    void stop();
    void kill();
    /// It hangs, and goes on.
    void pause() const;
    void resume() const;

    Options options() const;
    Options tls_options() const; ///< With the certificate to trust.
    std::string url() const;

private:
    void write_settings() const;
    bool answers() const;
    std::string log_end() const;

    std::string folder_;
    std::uint16_t port_ = 0;
    std::uint16_t tls_port_ = 0;
    std::uint16_t stream_port_ = 0;
    std::uint16_t stream_tls_port_ = 0;
    std::uint16_t distribution_port_ = 0;
    std::uint16_t epmd_port_ = 0;
    ChildProcess epmd_;
    ChildProcess server_;
};

/// The one of this test program, started with the first use. NotFound when there can be none here.
Result<RabbitmqServer*> shared_server();

} // namespace sluice::connector::amqp::testing
