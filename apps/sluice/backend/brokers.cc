#include "sluice/backend/brokers.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#if SLUICE_WITH_AMQP
#include "connector/amqp/bus.h"
#include "connector/amqp/options.h"
#include "connector/amqp/producer.h"
#include "connector/amqp/source.h"
#endif
#if SLUICE_WITH_KAFKA
#include "connector/kafka/bus.h"
#include "connector/kafka/options.h"
#include "connector/kafka/producer.h"
#include "connector/kafka/source.h"
#endif
#if SLUICE_WITH_NATS
#include "connector/nats/bus.h"
#include "connector/nats/form.h"
#include "connector/nats/options.h"
#include "connector/nats/producer.h"
#include "connector/nats/source.h"
#endif
#if SLUICE_WITH_REDIS
#include "connector/redis/bus.h"
#include "connector/redis/options.h"
#include "connector/redis/producer.h"
#include "connector/redis/source.h"
#endif

namespace sluice::app {

namespace {

using observe::Diagnostics;

/// What one kind of broker can do for us.
struct Broker {
    std::vector<std::string_view> schemes;
    std::function<Result<std::unique_ptr<event::Bus>>(const std::string&, Diagnostics&)> bus;
    std::function<Result<void>(const Value&)> check;
    std::function<Result<std::unique_ptr<event::Source>>(const Value&, Diagnostics&)> source;
    std::function<Result<std::string>(const Value&)> check_sink; ///< Gives where events go.
    std::function<Result<std::unique_ptr<event::Producer>>(const Value&, Diagnostics&)> producer;
};

#if SLUICE_WITH_AMQP
Broker amqp() {
    namespace amqp = connector::amqp;
    return {.schemes = {"amqp", "amqps"},
            .bus = [](const std::string& url,
                      Diagnostics& diagnostics) -> Result<std::unique_ptr<event::Bus>> {
                auto options = TRY(amqp::parse_url(url));
                return amqp::open_bus(options, diagnostics);
            },
            .check = [](const Value& form) -> Result<void> {
                std::ignore = TRY(amqp::read_source_form(form));
                return {};
            },
            .source = [](const Value& form,
                         Diagnostics& diagnostics) -> Result<std::unique_ptr<event::Source>> {
                auto options = TRY(amqp::read_source_form(form));
                return amqp::open_source(options, diagnostics);
            },
            .check_sink = [](const Value& form) -> Result<std::string> {
                auto options = TRY(amqp::read_sink_form(form));
                return options.routing_key;
            },
            .producer = [](const Value& form,
                           Diagnostics& diagnostics) -> Result<std::unique_ptr<event::Producer>> {
                auto options = TRY(amqp::read_sink_form(form));
                return amqp::open_producer(options, diagnostics);
            }};
}
#endif

#if SLUICE_WITH_KAFKA
Result<connector::kafka::Options> kafka_topics(const Value& form) {
    auto options = TRY(connector::kafka::parse_form(form));
    if (options.topics.empty()) {
        return fail(Errc::InvalidInput,
                    "topics: expected those to read, or the one to write to, found none");
    }
    return options;
}

Broker kafka() {
    namespace kafka = connector::kafka;
    return {.schemes = {"kafka", "kafkas"},
            .bus = [](const std::string& url,
                      Diagnostics& diagnostics) -> Result<std::unique_ptr<event::Bus>> {
                auto options = TRY(kafka::parse_url(url));
                return kafka::open_bus(options, diagnostics);
            },
            .check = [](const Value& form) -> Result<void> {
                std::ignore = TRY(kafka_topics(form));
                return {};
            },
            .source = [](const Value& form,
                         Diagnostics& diagnostics) -> Result<std::unique_ptr<event::Source>> {
                auto options = TRY(kafka_topics(form));
                return kafka::open_source("kafka", options, diagnostics);
            },
            .check_sink = [](const Value& form) -> Result<std::string> {
                auto options = TRY(kafka_topics(form));
                return options.topics.front();
            },
            .producer = [](const Value& form,
                           Diagnostics& diagnostics) -> Result<std::unique_ptr<event::Producer>> {
                auto options = TRY(kafka_topics(form));
                return kafka::Producer::open(options, diagnostics);
            }};
}
#endif

#if SLUICE_WITH_NATS
Broker nats() {
    namespace nats = connector::nats;
    return {.schemes = {"nats", "tls"},
            .bus = [](const std::string& url,
                      Diagnostics& diagnostics) -> Result<std::unique_ptr<event::Bus>> {
                auto options = TRY(nats::parse_url(url));
                return nats::open_bus(options, diagnostics);
            },
            .check = [](const Value& form) -> Result<void> {
                std::ignore = TRY(nats::parse_source(form));
                return {};
            },
            .source = [](const Value& form,
                         Diagnostics& diagnostics) -> Result<std::unique_ptr<event::Source>> {
                auto options = TRY(nats::parse_source(form));
                return nats::open_source(options, diagnostics);
            },
            .check_sink = [](const Value& form) -> Result<std::string> {
                auto options = TRY(nats::parse_sink(form));
                return options.subject;
            },
            .producer = [](const Value& form,
                           Diagnostics& diagnostics) -> Result<std::unique_ptr<event::Producer>> {
                auto options = TRY(nats::parse_sink(form));
                auto target = options.is_core ? nats::Target::Core : nats::Target::Streams;
                return nats::open_producer(options.server, target, diagnostics);
            }};
}
#endif

#if SLUICE_WITH_REDIS
Result<connector::redis::Options> redis_streams(const Value& form) {
    auto options = TRY(connector::redis::parse_form(form));
    if (options.streams.empty()) {
        return fail(Errc::InvalidInput,
                    "streams: expected those to read, or the one to write to, found none");
    }
    return options;
}

Broker redis() {
    namespace redis = connector::redis;
    return {.schemes = {"redis", "rediss"},
            .bus = [](const std::string& url,
                      Diagnostics& diagnostics) -> Result<std::unique_ptr<event::Bus>> {
                auto options = TRY(redis::parse_options(url));
                return redis::open_bus(options, diagnostics);
            },
            .check = [](const Value& form) -> Result<void> {
                std::ignore = TRY(redis_streams(form));
                return {};
            },
            .source = [](const Value& form,
                         Diagnostics& diagnostics) -> Result<std::unique_ptr<event::Source>> {
                auto options = TRY(redis_streams(form));
                return redis::open_source(options, diagnostics);
            },
            .check_sink = [](const Value& form) -> Result<std::string> {
                auto options = TRY(redis_streams(form));
                return options.streams.front();
            },
            .producer = [](const Value& form,
                           Diagnostics& diagnostics) -> Result<std::unique_ptr<event::Producer>> {
                auto options = TRY(redis_streams(form));
                return redis::open_producer(options, diagnostics);
            }};
}
#endif

const std::vector<Broker>& brokers() {
    static const auto all = [] {
        auto built = std::vector<Broker>{};
#if SLUICE_WITH_AMQP
        built.push_back(amqp());
#endif
#if SLUICE_WITH_KAFKA
        built.push_back(kafka());
#endif
#if SLUICE_WITH_NATS
        built.push_back(nats());
#endif
#if SLUICE_WITH_REDIS
        built.push_back(redis());
#endif
        return built;
    }();
    return all;
}

/// By its scheme; the rest of a URL may be a secret.
Result<const Broker*> broker_at(std::string_view url) {
    auto scheme = url.substr(0, std::min(url.find("://"), url.size()));
    auto known = std::vector<std::string_view>{};
    for (const auto& broker : brokers()) {
        if (std::ranges::find(broker.schemes, scheme) != broker.schemes.end()) {
            return &broker;
        }
        known.insert(known.end(), broker.schemes.begin(), broker.schemes.end());
    }
    return fail(Errc::InvalidInput, "url: expected one that begins with {}://",
                fmt::join(known, "://, "));
}

Result<const Broker*> broker_of(const Value& form) {
    const auto* url = form.find("url");
    if (url == nullptr || !url->is_string()) {
        return fail(Errc::InvalidInput, "url: expected the broker's, such as redis://host:6379");
    }
    return broker_at(url->as_string());
}

} // namespace

Result<std::unique_ptr<event::Bus>> open_bus(const std::string& url, Diagnostics& diagnostics) {
    const auto* broker = TRY(broker_at(url));
    return broker->bus(url, diagnostics);
}

Result<void> check_broker_source(const Value& form) {
    const auto* broker = TRY(broker_of(form));
    return broker->check(form);
}

Result<std::unique_ptr<event::Source>> open_broker_source(const Value& form,
                                                          Diagnostics& diagnostics) {
    const auto* broker = TRY(broker_of(form));
    return broker->source(form, diagnostics);
}

Result<std::string> check_broker_sink(const Value& form) {
    const auto* broker = TRY(broker_of(form));
    return broker->check_sink(form);
}

Result<std::unique_ptr<event::Producer>> open_broker_producer(const Value& form,
                                                              Diagnostics& diagnostics) {
    const auto* broker = TRY(broker_of(form));
    return broker->producer(form, diagnostics);
}

} // namespace sluice::app
