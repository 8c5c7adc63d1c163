#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace sluice::connector::nats {

/// How an event lies in a message.
enum class Mode : std::uint8_t {
    Structured, ///< The whole event as JSON.
    Binary,     ///< Attributes as header fields `ce-…`, the data as the body.
};

/// Whether the server's certificate is held against the authorities and its name.
enum class Verification : std::uint8_t { On, Off };

/// Who takes messages of streams off the wire: we where that is possible, or libnats does.
enum class Reading : std::uint8_t { Direct, Library };

struct Tls {
    bool is_on = false;
    std::string ca_file{}; ///< Whom to trust; empty: whom the system trusts.
    std::string certificate_file{};
    std::string key_file{};
    Verification verification = Verification::On;
};

/// At most one of them is given: user and password, token, credentials file, key.
struct Login {
    std::string user{};
    std::string password{};
    std::string token{};
    std::string credentials_file{}; ///< A JWT and its seed, as `nsc` writes them.
    std::string nkey{};             ///< The public key, `U…`.
    std::string nkey_seed_file{};
};

/// A NATS system, and how it is used as a bus.
struct Options {
    std::vector<std::string> servers; ///< `host:port`; others of a cluster are found through them.
    Tls tls{};
    Login login{};
    std::string prefix = "sluice"; ///< Shard 12 has the subject `sluice.12`, stream `SLUICE_12`.
    /// Durable consumer that shows the position; empty: none.
    std::string group = "sluice";
    std::string domain{}; ///< JetStream's; empty: the server's own.
    std::uint32_t replicas = 1;
    Nanos duplicates = std::chrono::minutes{2}; ///< How long the server knows a key.
    bool is_purged = false; ///< What lies behind the position is removed from the bus.
    Mode mode = Mode::Structured;
    Reading reading = Reading::Direct;
    std::size_t prefetch_bytes = std::size_t{8} << 20U; ///< Of all partitions together.
    std::uint64_t in_flight_max = 16'384;               ///< Sent and not yet confirmed.
    std::size_t in_flight_bytes_max = std::size_t{16} << 20U;
    Nanos send_time_max = std::chrono::seconds{30}; ///< Then an event is given back.
};

/// `nats://user:password@host:4222,host:4222/prefix?group=…`, or `tls://…`. README.md has the
/// parameters. Fails with InvalidInput, saying what to write instead.
Result<Options> parse_url(std::string_view url);

/// Sets what a parameter of that name stands for. Fails with InvalidInput.
Result<void> set_option(Options& options, std::string_view name, std::string_view text);
/// Fails with InvalidInput when options do not go together.
Result<void> check_options(const Options& options);

/// Of parameters and members.
Result<bool> parse_bool(std::string_view name, std::string_view text);

} // namespace sluice::connector::nats
