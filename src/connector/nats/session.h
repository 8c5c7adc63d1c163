#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "connector/nats/internal/handles.h"
#include "connector/nats/options.h"

namespace sluice::connector::nats {

/// How long to wait before the attempt of that number: longer each time, up to some seconds, and
/// never all clients at once.
Nanos backoff(std::uint64_t attempt, Random& random);

/// What the library said, with its own words. Never has a password in it.
Error error_of(natsStatus status, std::string_view doing, jsErrCode code = {});

/// A connection that is made anew when it is lost, for ever.
///
/// The library does so by itself on a thread of its own; only what it gives up on (a login refused
/// twice) is begun again here. One thread at a time calls `mend`, any thread the rest.
class Session {
public:
    enum class Reconnect : std::uint8_t {
        Always,
        Never, ///< A connection that is lost stays lost: nothing is sent behind one's back.
    };

    /// Fails when the server refuses the login or cannot be trusted. A server that is not there
    /// is no failure with Reconnect::Always; otherwise Unavailable.
    static Result<std::unique_ptr<Session>> open(const Options& options, std::string name,
                                                 Reconnect reconnect);
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    bool is_connected() const;
    /// It will not come back by itself.
    bool is_closed() const;
    /// Another number for each connection there was: what was asked for before is lost.
    std::uint64_t incarnation() const;
    /// Begins anew when it is closed, not too often; subscriptions are lost then.
    void mend(Nanos now);
    /// Another number for each time `mend` did so.
    std::uint64_t generation() const { return generation_; }
    /// Why there is no connection; empty: there is one.
    std::string trouble() const;

    natsConnection* connection() const { return connection_.get(); }
    jsCtx* streams() const { return streams_.get(); }
    /// `$JS.API.` or that of the domain.
    const std::string& api() const { return api_; }
    /// For calls of JetStream's API that may take so long.
    jsOptions call_options(Nanos wait) const;

private:
    Session(Options options, std::string name, Reconnect reconnect);

    Result<void> connect(bool is_retrying);

    Options options_;
    std::string name_;
    Reconnect reconnect_;
    std::string api_;
    internal::ConnectionHandle connection_;
    internal::ContextHandle streams_;
    internal::StatisticsHandle statistics_;
    std::uint64_t generation_ = 0;
    std::uint64_t attempts_ = 0;
    Nanos mended_at_{0};
    Random random_;
};

} // namespace sluice::connector::nats
