#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "value/value.h"

namespace sluice::connector::kafka {

/// Who keeps the position of what is read: we, or the broker for a group of consumers.
enum class Consume : std::uint8_t { Positions, Group };
/// Who reads partitions by our positions: we ask the brokers ourselves where that is possible, or
/// librdkafka does.
enum class Reading : std::uint8_t { Direct, Library };
/// Where a partition of a topic begins that was never read.
enum class Start : std::uint8_t { Beginning, End };
/// How an event stands in a message: whole as JSON, or as headers and data.
enum class Mode : std::uint8_t { Structured, Binary };
/// 0.9 has no headers, no idempotence, and does not say what it knows.
enum class Version : std::uint8_t { Current, Kafka09 };

struct Tls {
    bool is_on = false;
    bool is_verified = true;
    std::string ca; ///< A file; empty: the machine's own authorities.
    std::string certificate;
    std::string key;
    std::string key_password;

    bool operator==(const Tls&) const = default;
};

/// How a Kafka is reached and used: what a URL or a form says.
struct Options {
    std::vector<std::string> brokers; ///< `host:port`, any of the cluster.
    std::string user;                 ///< Empty: no authentication.
    std::string password;
    std::string mechanism = "PLAIN";
    Tls tls{};
    std::string prefix = "sluice";     ///< The topic of a bus.
    std::vector<std::string> topics{}; ///< What a source reads; the first is a sink's.
    std::string group{};               ///< Empty: the prefix.
    Consume consume = Consume::Positions;
    Reading reading = Reading::Direct;
    Start start = Start::Beginning;
    Mode mode = Mode::Structured;
    Version version = Version::Current;
    int replication = -1;                          ///< Of topics we make; -1: the broker's default.
    std::map<std::string, std::string> creation{}; ///< Settings of topics we make.
    std::map<std::string, std::string> settings{}; ///< Properties of librdkafka.

    const std::string& group_name() const { return group.empty() ? prefix : group; }
    bool operator==(const Options&) const = default;
};

/// `kafka://user:password@host:9092,host/prefix?name=value`; `kafkas` for TLS. The README has the
/// names. Fails with InvalidInput, never showing a password.
Result<Options> parse_url(std::string_view url);

/// A source or sink as people add it: a map with `url`, and what stands in a query as members.
Result<Options> parse_form(const Value& form);

} // namespace sluice::connector::kafka
