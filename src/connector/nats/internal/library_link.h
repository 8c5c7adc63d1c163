#pragma once

#include <optional>

#include "connector/nats/internal/inbox.h"
#include "connector/nats/internal/pull_link.h"
#include "connector/nats/session.h"

namespace sluice::connector::nats::internal {

/// Over the library's own connection, which makes an object of every message.
class LibraryLink final : public PullLink {
public:
    /// The session outlives it, and is mended by others.
    explicit LibraryLink(const Session& session) : session_(session) {}

    Result<bool> keep(Nanos now) override;
    std::uint64_t incarnation() const override { return incarnation_; }
    std::string_view prefix() const override { return inbox_->prefix(); }
    const Answer* next() override;
    void wait(Nanos limit) override;
    void publish(const std::string& subject, const std::string& reply,
                 std::string_view body) override;
    void send() override {} // The library does, on a thread of its own.
    void close_inbox() override;
    bool has_inbox() const override { return inbox_.has_value(); }
    void finish(Nanos limit) override;
    bool take_unanswered() override { return inbox_ && inbox_->take_unanswered(); }

private:
    const Session& session_;
    std::optional<Inbox> inbox_;
    MessageHandle message_;
    bool is_waiting_ = false; ///< The message came while we waited, and was not given yet.
    Answer answer_;
    std::uint64_t seen_generation_ = 0;
    std::uint64_t seen_connection_ = 0;
    std::uint64_t incarnation_ = 0;
};

} // namespace sluice::connector::nats::internal
