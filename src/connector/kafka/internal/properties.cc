#include "connector/kafka/internal/properties.h"

#include <algorithm>
#include <array>

namespace sluice::connector::kafka::internal {

namespace {

struct Refused {
    std::string_view name;
    std::string_view instead;
};

constexpr std::string_view kept = "nothing confirmed may be lost or change its order";
constexpr std::string_view ours = "the position is kept here, not by the client";

constexpr auto refused = std::to_array<Refused>({
    {"bootstrap.servers", "name the brokers in the URL"},
    {"metadata.broker.list", "name the brokers in the URL"},
    {"group.id", "write group"},
    {"security.protocol", "write kafkas:// for TLS, and user:password@ for SASL"},
    {"sasl.mechanism", "write mechanism"},
    {"sasl.mechanisms", "write mechanism"},
    {"sasl.username", "write user:password@ before the first host"},
    {"sasl.password", "write user:password@ before the first host"},
    {"api.version.request", "write broker=0.9"},
    {"broker.version.fallback", "write broker=0.9"},
    {"auto.offset.reset", "write start; a position that is gone is an error"},
    {"enable.auto.commit", ours},
    {"auto.commit.enable", ours},
    {"auto.commit.interval.ms", ours},
    {"enable.auto.offset.store", ours},
    {"offset.store.method", ours},
    {"enable.partition.eof", ours},
    {"isolation.level", "events of transactions that were given up are never read"},
    {"enable.idempotence", kept},
    {"enable.gapless.guarantee", kept},
    {"acks", kept},
    {"request.required.acks", kept},
    {"message.timeout.ms", kept},
    {"delivery.timeout.ms", kept},
    {"message.send.max.retries", kept},
    {"retries", kept},
    {"max.in.flight", kept},
    {"max.in.flight.requests.per.connection", kept},
    {"queuing.strategy", kept},
    {"delivery.report.only.error", kept},
    {"transactional.id", "transactions are not used"},
    {"transaction.timeout.ms", "transactions are not used"},
    {"plugin.library.paths", "no code is loaded from outside"},
    {"ssl.engine.location", "no code is loaded from outside"},
    {"ssl.engine.id", "no code is loaded from outside"},
    {"test.mock.num.brokers", "it is for tests"},
});

bool is_secret(std::string_view name) {
    return std::ranges::any_of(
        std::array<std::string_view, 4>{"password", "secret", "key.pem", "oauthbearer.config"},
        [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

Result<void> set(rd_kafka_conf_t* conf, const std::string& name, const std::string& value) {
    auto text = std::array<char, 512>{};
    if (rd_kafka_conf_set(conf, name.c_str(), value.c_str(), text.data(), text.size()) ==
        RD_KAFKA_CONF_OK) {
        return {};
    }
    if (is_secret(name)) {
        return fail(Errc::InvalidInput, "'{}' has a value that librdkafka does not take", name);
    }
    return fail(Errc::InvalidInput, "'{}': {}", name, text.data());
}

using Pair = std::pair<const char*, const char*>;

constexpr auto shared_pairs = std::to_array<Pair>({
    {"client.id", "sluice"},
    {"reconnect.backoff.ms", "50"},
    {"reconnect.backoff.max.ms", "2000"},
    {"socket.keepalive.enable", "true"},
    {"socket.nagle.disable", "true"},
    {"log.connection.close", "false"},
});

// Prefetched at most: 4 MiB, 10,000 messages (each has some 400 bytes of its own) and what one
// request more brings.
constexpr auto consumer_pairs = std::to_array<Pair>({
    {"enable.auto.commit", "false"},
    {"enable.auto.offset.store", "false"},
    {"auto.offset.reset", "error"},
    {"isolation.level", "read_committed"},
    {"queued.max.messages.kbytes", "4096"},
    {"queued.min.messages", "10000"},
    {"fetch.max.bytes", "8388608"},
    {"max.partition.fetch.bytes", "1048576"},
    {"fetch.wait.max.ms", "100"},
    {"fetch.error.backoff.ms", "100"},
});

// Without a time limit, so that nothing is given up while what comes behind it gets through.
constexpr auto producer_pairs = std::to_array<Pair>({
    {"acks", "all"},
    {"message.timeout.ms", "0"},
    {"linger.ms", "2"},
    {"batch.size", "262144"},
    {"message.max.bytes", "1048588"},
    {"queue.buffering.max.messages", "40000"},
    {"queue.buffering.max.kbytes", "16384"},
    {"retry.backoff.ms", "100"},
    {"partitioner", "murmur2_random"},
});

Result<void> set_security(rd_kafka_conf_t* conf, const Options& options) {
    const auto& tls = options.tls;
    auto is_sasl = !options.user.empty() || options.mechanism != "PLAIN";
    TRY(set(conf, "security.protocol",
            std::string{is_sasl ? "sasl_" : ""} + (tls.is_on ? "ssl" : "plaintext")));
    if (is_sasl) {
        TRY(set(conf, "sasl.mechanism", options.mechanism));
    }
    if (!options.user.empty()) {
        TRY(set(conf, "sasl.username", options.user));
        TRY(set(conf, "sasl.password", options.password));
    }
    if (!tls.is_on) {
        return {};
    }
    TRY(set(conf, "enable.ssl.certificate.verification", tls.is_verified ? "true" : "false"));
    TRY(set(conf, "ssl.endpoint.identification.algorithm", tls.is_verified ? "https" : "none"));
    for (const auto& [name, value] :
         {std::pair{"ssl.ca.location", &tls.ca}, std::pair{"ssl.key.location", &tls.key},
          std::pair{"ssl.certificate.location", &tls.certificate},
          std::pair{"ssl.key.password", &tls.key_password}}) {
        if (!value->empty()) {
            TRY(set(conf, name, *value));
        }
    }
    return {};
}

Result<void> set_role(rd_kafka_conf_t* conf, Role role, const Options& options) {
    if (role == Role::Consumer) {
        for (const auto& [name, value] : consumer_pairs) {
            TRY(set(conf, name, value));
        }
        return set(conf, "group.id", options.group_name());
    }
    for (const auto& [name, value] : producer_pairs) {
        TRY(set(conf, name, value));
    }
    if (options.version == Version::Current) {
        return set(conf, "enable.idempotence", "true");
    }
    return set(conf, "max.in.flight", "1");
}

} // namespace

bool is_property_name(std::string_view name) {
    return name.find('.') != std::string_view::npos || name == "debug" || name == "partitioner";
}

Result<void> check_property(std::string_view name, std::string_view value) {
    auto found = std::ranges::find(refused, name, &Refused::name);
    if (found != refused.end()) {
        return fail(Errc::InvalidInput, "'{}' cannot be set here: {}", name, found->instead);
    }
    if (!is_property_name(name) || name.ends_with("_cb")) {
        return fail(Errc::InvalidInput, "'{}' is no property of librdkafka that can be set", name);
    }
    if (name.find('\0') != std::string_view::npos || value.find('\0') != std::string_view::npos) {
        return fail(Errc::InvalidInput, "a property has no zero bytes");
    }
    auto scratch = Conf{rd_kafka_conf_new()};
    return set(scratch.get(), std::string{name}, std::string{value});
}

Result<Conf> make_conf(Role role, const Options& options) {
    auto conf = Conf{rd_kafka_conf_new()};
    auto brokers = std::string{};
    for (const auto& broker : options.brokers) {
        brokers += (brokers.empty() ? "" : ",") + broker;
    }
    TRY(set(conf.get(), "bootstrap.servers", brokers));
    for (const auto& [name, value] : shared_pairs) {
        TRY(set(conf.get(), name, value));
    }
    if (options.version == Version::Kafka09) {
        TRY(set(conf.get(), "api.version.request", "false"));
        TRY(set(conf.get(), "broker.version.fallback", "0.9.0.1"));
    }
    TRY(set_security(conf.get(), options));
    TRY(set_role(conf.get(), role, options));
    for (const auto& [name, value] : options.settings) {
        TRY(check_property(name, value));
        TRY(set(conf.get(), name, value));
    }
    return conf;
}

std::vector<std::string> secrets_of(const Options& options) {
    auto secrets = std::vector<std::string>{options.password, options.tls.key_password};
    for (const auto& [name, value] : options.settings) {
        if (is_secret(name)) {
            secrets.push_back(value);
        }
    }
    std::erase_if(secrets, [](const std::string& secret) { return secret.size() < 3; });
    return secrets;
}

} // namespace sluice::connector::kafka::internal
