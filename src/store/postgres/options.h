#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "store/store.h"

namespace sluice::store::postgres {

struct Options {
    /// `postgres://user:password@host:port/database?schema=…&patience=…&sslmode=…`: our own
    /// parameters and every one that libpq knows. No error repeats anything of the URL that could
    /// be a password.
    static Result<Options> parse(std::string_view url);

    /// What libpq connects by, under its own names: `host`, `dbname`, `sslmode`, …
    std::vector<std::pair<std::string, std::string>> parameters;
    std::string schema = "sluice"; ///< Where the tables are; made when it is missing.
    /// For how long a call goes on trying when the server cannot be reached.
    Nanos patience = std::chrono::seconds{60};
    /// How long one attempt may be without an answer.
    Nanos timeout = std::chrono::seconds{10};
    std::uint16_t readers = 4; ///< Connections for reads, at most.

    Durability durability = Durability::Strict; ///< Strict or Relaxed.
    std::uint16_t shard_count = 64;             ///< Used when the tables are made, kept ever after.
    /// Hears, from any thread, why a call is being tried again.
    std::function<void(std::string_view)> report = {};

    /// `host:port/database`, for messages.
    std::string where() const;
    /// The value of a parameter of libpq; empty when it was not given.
    std::string_view parameter(std::string_view name) const;
};

} // namespace sluice::store::postgres
