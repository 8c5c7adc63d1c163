#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "server/access.h"
#include "value/value.h"

namespace sluice::server {

/// A size, written as `4MiB`, `64KiB` or a number of bytes.
struct Bytes {
    std::uint64_t count = 0;

    bool operator==(const Bytes&) const = default;
};

/// A token that the configuration gives instead of the API.
struct ConfiguredToken {
    TokenInfo info;
    std::string hash{};   ///< Of its secret; empty: the secret is there.
    std::string secret{}; ///< May refer to one: `${secret:ci}`.

    bool operator==(const ConfiguredToken&) const = default;
};

/// How a server is set up. What each of it means stands in `settings()`, which is how it is read
/// and shown.
struct Configuration {
    std::string data = "sluice-data";
    std::string store;
    std::string bus;
    std::string advertise;
    Nanos lease = std::chrono::seconds{6};
    std::string listen = "127.0.0.1:8080";
    std::string durability = "strict";
    std::uint64_t threads = 1;
    std::vector<std::string> hosts;
    std::vector<std::string> origins;
    std::string tls_certificate;
    std::string tls_key;
    std::string token;
    std::vector<ConfiguredToken> tokens;
    std::string secrets;
    std::string functions;
    bool allow_private = false;
    bool allow_process = false;
    std::string public_url;
    std::string traces;
    std::string log_level = "info";
    std::string log_format = "text";
    Bytes limit_body{std::uint64_t{4} << 20U};
    Bytes limit_bodies{std::uint64_t{256} << 20U};
    Bytes limit_header{std::uint64_t{16} << 10U};
    Bytes limit_result{std::uint64_t{256} << 10U};
    std::uint64_t limit_connections = 20'000;
    std::uint64_t limit_requests = 0;
    std::uint64_t limit_requests_burst = 0;
    Nanos limit_header_time = std::chrono::seconds{10};
    Nanos limit_body_time = std::chrono::seconds{30};
    Nanos limit_idle_time = std::chrono::seconds{75};
    Nanos limit_write_time = std::chrono::seconds{30};
    std::string aws_region = "us-east-1";
    std::string aws_account = "123456789012";
    std::string unrouted = "refuse";
    std::vector<std::string> watch_roots;
    Nanos audit_age = std::chrono::hours{24 * 90};
    std::uint64_t audit_records = 1'000'000;
    Nanos stop_delay{0};
    Nanos stop_grace = std::chrono::seconds{10};
};

/// Whether a change is taken up while the server runs.
enum class Change : std::uint8_t { Restart, Live };

/// One thing that can be set, in a file, the environment and as a flag: this is all that any of
/// them knows.
struct Setting {
    using Field = std::variant<std::string Configuration::*, std::uint64_t Configuration::*,
                               bool Configuration::*, Bytes Configuration::*,
                               Nanos Configuration::*, std::vector<std::string> Configuration::*,
                               std::vector<ConfiguredToken> Configuration::*>;

    std::string_view name; ///< `limits.body`: in a file, `body` under `limits`.
    std::string_view form; ///< What is written there: `BYTES`.
    Field field;
    std::string_view description;
    Change change = Change::Restart;
    std::vector<std::string_view> choices{}; ///< Empty: any.
    std::uint64_t least = 0;                 ///< Of numbers and sizes.
    std::uint64_t most = INT64_MAX;
    bool is_secret = false;    ///< Never shown, no flag, and in a file only by reference.
    bool has_password = false; ///< A URL, which is shown without the password it may have.

    /// `SLUICE_LIMITS_BODY`; empty where it has none.
    std::string variable() const;
    /// `--limits-body`; empty where it has none.
    std::string flag() const;
};

std::span<const Setting> settings();
const Setting* setting_named(std::string_view name);

enum class Origin : std::uint8_t { Default, File, Environment, Flag };
std::string_view to_string(Origin origin);

/// A configuration as it comes together, with where each value came from.
class Configured {
public:
    /// Something wrong in a file: `limits/body`.
    struct Fault {
        std::string path;
        std::string message;
    };
    using Texts = std::map<std::string, std::string, std::less<>>;

    /// In the order in which they beat each other: the later one stands.
    std::vector<Fault> read_file(const Value& form);
    /// By the names of variables; those that are no settings do not matter.
    Result<void> read_environment(const Texts& variables);
    /// By the names of settings.
    Result<void> read_flags(const Texts& flags);
    /// What no single setting can say.
    Result<void> check() const;

    const Configuration& values() const { return values_; }
    Origin origin(const Setting& setting) const;
    /// As one would write it; `(set)` for a secret.
    std::string text(const Setting& setting) const;
    /// What `--show-config --json` prints.
    Value view() const;
    /// Those that the other one has differently.
    std::vector<const Setting*> differences(const Configured& other) const;

private:
    Result<void> set(const Setting& setting, std::string_view text, Origin origin);
    void read_level(const Value& form, const std::string& path, std::vector<Fault>& faults);
    void read_member(const Setting& setting, const Value& value, const std::string& path,
                     std::vector<Fault>& faults);

    Configuration values_;
    std::map<std::string_view, Origin> origins_;
};

/// `2` bytes, `4KiB`; fails with InvalidInput.
Result<Bytes> parse_bytes(std::string_view text);
std::string format_bytes(Bytes bytes);

/// A list of `{name, role, namespace, expires, hash or secret}`.
std::vector<ConfiguredToken> read_tokens(const Value& form, const std::string& path,
                                         std::vector<Configured::Fault>& faults);

} // namespace sluice::server
