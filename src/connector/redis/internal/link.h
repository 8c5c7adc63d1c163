#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "observe/diagnostics.h"
#include "resp/backoff.h"
#include "resp/client.h"

namespace sluice::connector::redis::internal {

/// A connection that is made anew when it is lost, with a pause that grows.
class Link {
public:
    Link(resp::Options options, observe::Diagnostics& diagnostics);

    /// The client, or null: then there was no time, or it is too early to try again. An error is
    /// for good.
    Result<resp::Client*> get(Nanos wait);
    /// The connection is of no use any more.
    void lose(const Error& error);
    /// Why there is no connection; empty: all is well.
    const std::string& trouble() const { return trouble_; }

private:
    resp::Options options_;
    observe::Diagnostics& diagnostics_;
    resp::Backoff backoff_;
    std::optional<resp::Client> client_;
    Nanos not_before_{0};
    std::string trouble_;
};

} // namespace sluice::connector::redis::internal
