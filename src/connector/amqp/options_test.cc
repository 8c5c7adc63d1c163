#include "connector/amqp/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::connector::amqp {

namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(AmqpOptions, AUrlSaysEverythingOfABus) {
    auto options = parse_url(
        "amqps://me:p%40ss%2Fword@[::1]:1234/my%2Fhost?queue=classic&prefix=p"
        "&prefetch=7&single_active=true&window=9&heartbeat=3s&timeout=2s"
        "&give_up=1m&mode=binary&ca=/ca.pem&certificate=/c.pem&key=/k.pem"
        "&verify=false");

    ASSERT_TRUE(options) << options.error().message;
    EXPECT_EQ(options->user, "me");
    EXPECT_EQ(options->password, "p@ss/word");
    EXPECT_EQ(options->host, "::1");
    EXPECT_EQ(options->port, 1234);
    EXPECT_EQ(options->vhost, "my/host");
    EXPECT_EQ(options->type, QueueType::Classic);
    EXPECT_EQ(options->prefix, "p");
    EXPECT_EQ(options->effective_prefetch(), 7);
    EXPECT_EQ((Options{.type = QueueType::Stream}.effective_prefetch()), 2000);
    EXPECT_EQ((Options{.type = QueueType::Quorum}.effective_prefetch()), 5000);
    EXPECT_TRUE(options->is_single_active);
    EXPECT_EQ(options->window, 9);
    EXPECT_EQ(options->heartbeat, 3s);
    EXPECT_EQ(options->timeout, 2s);
    EXPECT_EQ(options->give_up, 1min);
    EXPECT_EQ(options->mode, Mode::Binary);
    EXPECT_EQ(options->tls, (Tls{.is_on = true,
                                 .ca_file = "/ca.pem",
                                 .certificate_file = "/c.pem",
                                 .key_file = "/k.pem",
                                 .is_verified = false}));
}

TEST(AmqpOptions, AUrlMaySayLittle) {
    auto plain = parse_url("amqp://rabbit");
    auto secure = parse_url("amqps://rabbit/?max_age=7D&max_bytes=5000&segment_bytes=1000");

    ASSERT_TRUE(plain && secure);
    EXPECT_EQ(plain->port, 5672);
    EXPECT_EQ(plain->vhost, "/");
    EXPECT_EQ(plain->user, "guest");
    EXPECT_EQ(plain->type, QueueType::Stream);
    EXPECT_EQ(secure->port, 5671);
    EXPECT_EQ(secure->vhost, "/");
    EXPECT_EQ(secure->retention,
              (Retention{.max_age = "7D", .max_bytes = 5000, .segment_bytes = 1000}));
}

TEST(AmqpOptions, StreamsHaveAPortOfTheirOwn) {
    auto plain = parse_url("amqp://h");
    auto secure = parse_url("amqps://h");
    auto other = parse_url("amqp://h?stream_port=6000");
    auto never = parse_url("amqp://h?stream_port=0");
    auto form = read_source_form(
        Value::object({{"url", "amqp://h?stream_port=1"}, {"queue", "q"}, {"stream_port", 7000}}));

    ASSERT_TRUE(plain && secure && other && never && form);
    EXPECT_EQ(plain->effective_stream_port(), 5552);
    EXPECT_EQ(secure->effective_stream_port(), 5551);
    EXPECT_EQ(other->effective_stream_port(), 6000);
    EXPECT_EQ(never->effective_stream_port(), 0);
    EXPECT_EQ(form->effective_stream_port(), 7000);
}

TEST(AmqpOptions, RefusalsSayWhatToWriteAndNoPassword) {
    struct Case {
        std::string url;
        std::string reason;
    };
    auto cases = std::vector<Case>{
        {"rabbit:secret@host", "expected a URL such as"},
        {"http://u:secret@host", "begins with amqp://"},
        {"amqp://u:secret@", "names no host"},
        {"amqp://u:secret@host:0", "from 1 to 65535"},
        {"amqp://u:secret@host:70000", "from 1 to 65535"},
        {"amqp://u:secret@host:12x", "from 1 to 65535"},
        {"amqp://u:secret%zz@host", "write %25"},
        {"amqp://u:secret%0a@host", "control character"},
        {"amqp://u:secret%ff@host", "not UTF-8"},
        {"amqp://u:secret@[::1", "[ without ]"},
        {"amqp://u:secret@host/a/b", "write %2F"},
        {"amqp://u:secret@host#x", "%23"},
        {"amqp://u:secret@host?queu=stream", "queu is unknown here: write one of"},
        {"amqp://u:secret@host?queue=lazy", "queue: expected stream, quorum or classic"},
        {"amqp://u:secret@host?prefetch=0", "prefetch: expected a number from 1 to 65535"},
        {"amqp://u:secret@host?prefetch=70000", "prefetch: expected a number"},
        {"amqp://u:secret@host?stream_port=70000", "stream_port: expected a number from 0 to"},
        {"amqp://u:secret@host?heartbeat=0s", "heartbeat: expected a time from 1s"},
        {"amqp://u:secret@host?max_age=week", "such as 7D"},
        {"amqp://u:secret@host?verify=no", "verify: expected true or false"},
        {"amqp://u:secret@host?ca=/x", "are for amqps://"},
        {"amqps://u:secret@host?key=/x", "both certificate and key"},
        {"amqp://u:secret@host?single_active=true", "a stream has none"},
        {"amqp://u:secret@host?queue=quorum&max_age=7D", "are for streams"},
        {"amqp://u:secret@host?prefix=", "prefix: expected a text"},
        {"amqp://u:secret@host?exchange=e", "exchange is unknown here"},
        {"amqp://u:secret@host?prefix=" + std::string(241, 'p'), "at most 240"},
    };

    for (const auto& [url, reason] : cases) {
        auto options = parse_url(url);
        ASSERT_FALSE(options) << url;
        EXPECT_EQ(options.error().code, Errc::InvalidInput);
        EXPECT_THAT(options.error().message, HasSubstr(reason)) << url;
        EXPECT_THAT(options.error().message, Not(HasSubstr("secret")));
    }
}

TEST(AmqpOptions, AFormSaysASource) {
    auto options = read_source_form(Value::object({{"url", "amqp://rabbit?heartbeat=4s"},
                                                   {"user", "me"},
                                                   {"password", "secret"},
                                                   {"queue", "orders"},
                                                   {"type", "classic"},
                                                   {"declare", true},
                                                   {"exchange", "shop"},
                                                   {"routing_key", "order.*"},
                                                   {"prefetch", 50},
                                                   {"single_active", true}}));

    ASSERT_TRUE(options) << options.error().message;
    EXPECT_EQ(options->heartbeat, 4s);
    EXPECT_EQ(options->user, "me");
    EXPECT_EQ(options->password, "secret");
    EXPECT_EQ(options->queue, "orders");
    EXPECT_EQ(options->type, QueueType::Classic);
    EXPECT_TRUE(options->is_declared);
    EXPECT_EQ(options->exchange, "shop");
    EXPECT_EQ(options->routing_key, "order.*");
    EXPECT_EQ(options->prefetch, 50);
    EXPECT_EQ(read_source_form(Value::object({{"url", "amqp://r"}, {"queue", "q"}}))->type,
              QueueType::Quorum);
}

TEST(AmqpOptions, AFormSaysASink) {
    auto options = read_sink_form(Value::object({{"url", "amqp://rabbit"},
                                                 {"exchange", "shop"},
                                                 {"routing_key", "done"},
                                                 {"mode", "binary"},
                                                 {"window", 10}}));

    ASSERT_TRUE(options) << options.error().message;
    EXPECT_EQ(options->exchange, "shop");
    EXPECT_EQ(options->routing_key, "done");
    EXPECT_EQ(options->mode, Mode::Binary);
}

TEST(AmqpOptions, FormsAreRefusedWithAReason) {
    auto source = [](std::initializer_list<value::Member> members) {
        auto read = read_source_form(Value::object(members));
        return read ? std::string{} : read.error().message;
    };
    auto sink = [](std::initializer_list<value::Member> members) {
        auto read = read_sink_form(Value::object(members));
        return read ? std::string{} : read.error().message;
    };

    EXPECT_THAT(read_source_form(Value{3}).error().message, HasSubstr("expected a map"));
    EXPECT_THAT(source({{"queue", "q"}}), HasSubstr("url is missing"));
    EXPECT_THAT(source({{"url", "amqp://r"}}), HasSubstr("queue is missing"));
    EXPECT_THAT(source({{"url", "amqp://r?prefix=p"}, {"queue", "q"}}), HasSubstr("prefix is"));
    EXPECT_THAT(source({{"url", "amqp://r"}, {"queue", Value::list({})}}),
                HasSubstr("queue: expected a text"));
    EXPECT_THAT(source({{"url", "amqp://r"}, {"queue", "q"}, {"exchange", "e"}}),
                HasSubstr("declare: true"));
    EXPECT_THAT(
        source({{"url", "amqp://r"}, {"queue", "q"}, {"declare", true}, {"routing_key", "k"}}),
        HasSubstr("exchange is missing"));
    EXPECT_THAT(source({{"url", "amqp://r"}, {"queue", std::string(256, 'q')}}),
                HasSubstr("at most 255"));
    EXPECT_THAT(sink({{"url", "amqp://r"}}), HasSubstr("write exchange"));
    EXPECT_THAT(sink({{"url", "amqp://r"}, {"queue", "q"}}), HasSubstr("queue is unknown"));
}

} // namespace

} // namespace sluice::connector::amqp
