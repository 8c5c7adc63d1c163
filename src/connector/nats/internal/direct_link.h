#pragma once

#include <optional>
#include <string>

#include "base/random.h"
#include "connector/nats/internal/pull_link.h"
#include "connector/nats/internal/wire/connection.h"
#include "connector/nats/internal/wire/header.h"
#include "connector/nats/session.h"

namespace sluice::connector::nats::internal {

/// Over a connection of our own: messages are given where they were received.
///
/// It goes where the session is, which knows the servers of a cluster and finds those that live;
/// where it is not let in there, to the servers it was told of.
class DirectLink final : public PullLink {
public:
    /// Whether this is wanted, and can log in.
    static bool is_possible(const Options& options);

    /// The session outlives it.
    DirectLink(const Session& session, const Options& options);

    Result<bool> keep(Nanos now) override;
    std::uint64_t incarnation() const override { return subscription_; }
    std::string_view prefix() const override { return prefix_; }
    const Answer* next() override;
    void wait(Nanos limit) override;
    void publish(const std::string& subject, const std::string& reply,
                 std::string_view body) override;
    void send() override;
    void close_inbox() override;
    bool has_inbox() const override { return connection_.has_value() && !prefix_.empty(); }
    void finish(Nanos limit) override;
    std::string trouble() const override { return trouble_; }

private:
    std::string server() const;
    Result<void> connect();
    Result<void> open_inbox();
    void lose(const Error& why);
    const Answer* take(const wire::Operation& operation);

    const Session& session_;
    Options options_;
    std::optional<wire::Connection> connection_;
    std::string prefix_;
    /// Its own for each inbox: what comes for another is of one that was closed.
    std::uint64_t subscription_ = 0;
    wire::Header header_;
    Answer answer_;
    std::uint64_t attempts_ = 0;
    Nanos connect_at_{0}; ///< Not to be tried before.
    std::string trouble_;
    Random random_;
};

} // namespace sluice::connector::nats::internal
