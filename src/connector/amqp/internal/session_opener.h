#pragma once

#include <memory>

#include "connector/amqp/internal/session.h"
#include "connector/amqp/options.h"
#include "observe/diagnostics.h"

namespace sluice::connector::amqp::internal {

/// Chooses the protocol: streams by their own where the broker speaks it, the rest by AMQP 0.9.1.
class SessionOpener {
public:
    SessionOpener(const Options& options, observe::Diagnostics& diagnostics)
        : options_(options), diagnostics_(diagnostics) {}

    Result<std::unique_ptr<Session>> open();
    /// The next one is to be by AMQP, since the stream protocol does not get everywhere.
    void avoid_stream_protocol(const Error& why);

private:
    void tell(const Error& why);

    const Options& options_;
    observe::Diagnostics& diagnostics_;
    bool is_avoided_ = false;
    bool is_told_ = false;
};

} // namespace sluice::connector::amqp::internal
