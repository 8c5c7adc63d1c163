#pragma once

#include <cstdint>

#include "reactor/file_descriptor.h"

namespace sluice::connector::amqp::testing {

/// Listens on a free port of this machine.
class Listener {
public:
    Listener();

    std::uint16_t port() const { return port_; }
    /// Who connects next; closed once `stop` was called.
    reactor::FileDescriptor accept() const;
    void stop() const;

private:
    reactor::FileDescriptor socket_;
    std::uint16_t port_ = 0;
};

/// To a port of this machine; closed when nobody listens there.
reactor::FileDescriptor connect_to(std::uint16_t port);

} // namespace sluice::connector::amqp::testing
