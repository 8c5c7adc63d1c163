#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "connector/nats/binding.h"

namespace sluice::connector::nats::internal {

/// What came to an inbox: a message of a stream, or a word of the server's about a request.
struct Answer {
    std::string_view subject{};
    std::string_view reply{};
    std::string_view body{};
    std::string_view status{}; ///< Of a word of the server's.
    std::string_view description{};
    std::vector<Field> fields{}; ///< Without those of JetStream.
};

/// A connection over which messages are asked for and come, to an inbox, each request's under a
/// subject of its own. What is asked for bounds what lies in it. One thread at a time.
class PullLink {
public:
    virtual ~PullLink() = default;

    /// Keeps connection and inbox. False: there is none just now.
    virtual Result<bool> keep(Nanos now) = 0;
    /// Another number for each connection or inbox there was: what was asked for before is lost.
    virtual std::uint64_t incarnation() const = 0;
    /// `_INBOX.….`, while `keep` says that there is one.
    virtual std::string_view prefix() const = 0;

    /// What is here; null: nothing. Valid until the next call.
    virtual const Answer* next() = 0;
    /// Until something may be here, or so long.
    virtual void wait(Nanos limit) = 0;

    /// Leaves with `send`, at the latest.
    virtual void publish(const std::string& subject, const std::string& reply,
                         std::string_view body) = 0;
    virtual void send() = 0;
    /// Nothing of what still comes is taken; the next `keep` makes another inbox.
    virtual void close_inbox() = 0;
    virtual bool has_inbox() const = 0;
    /// Waits until the server has what was published.
    virtual void finish(Nanos limit) = 0;

    /// Whether nobody was there to answer something, and it is not known what; asked once.
    virtual bool take_unanswered() { return false; }
    /// Why nothing comes; empty: all is well.
    virtual std::string trouble() const { return {}; }
};

} // namespace sluice::connector::nats::internal
