#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "connector/nats/options.h"

namespace sluice::connector::nats::internal::wire {

/// Writes what a client says behind what stands in a text already. Subjects have no blanks.
class CommandWriter {
public:
    explicit CommandWriter(std::string& out) : out_(out) {}

    /// With headers, and with word of requests that nobody is there to answer.
    void connect(const Login& login, std::string_view name, bool is_tls);
    void ping() { out_ += "PING\r\n"; }
    void pong() { out_ += "PONG\r\n"; }
    void subscribe(std::string_view subject, std::uint64_t subscription);
    void unsubscribe(std::uint64_t subscription);
    /// An empty reply: no answer is expected.
    void publish(std::string_view subject, std::string_view reply, std::string_view body);

private:
    std::string& out_;
};

} // namespace sluice::connector::nats::internal::wire
