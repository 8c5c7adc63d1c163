#include "connector/kafka/internal/topic_admin.h"

#include <array>
#include <chrono>
#include <thread>

namespace sluice::connector::kafka::internal {

using namespace std::chrono_literals;

namespace {

constexpr auto metadata_wait = 10000; // ms
constexpr auto request_wait = 20000;  // ms
constexpr auto settle_wait = Nanos{20s};
constexpr auto settle_step = 50ms;

constexpr auto unsupported_text = fmt::format_string<const std::string&, int&>{
    "this Kafka does not let clients make topics: make {} with {} partitions by "
    "kafka-topics.sh --create"};

struct NewTopicDeleter {
    void operator()(rd_kafka_NewTopic_t* topic) const { rd_kafka_NewTopic_destroy(topic); }
};
struct DeleteTopicDeleter {
    void operator()(rd_kafka_DeleteTopic_t* topic) const { rd_kafka_DeleteTopic_destroy(topic); }
};
struct OptionsDeleter {
    void operator()(rd_kafka_AdminOptions_t* it) const { rd_kafka_AdminOptions_destroy(it); }
};
struct EventDeleter {
    void operator()(rd_kafka_event_t* event) const { rd_kafka_event_destroy(event); }
};
struct TopicDeleter {
    void operator()(rd_kafka_topic_t* topic) const { rd_kafka_topic_destroy(topic); }
};
struct MetadataDeleter {
    void operator()(const rd_kafka_metadata_t* it) const { rd_kafka_metadata_destroy(it); }
};
using AnyEvent = std::unique_ptr<rd_kafka_event_t, EventDeleter>;

/// What became of one topic: the code, and the words for it.
struct Outcome {
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR_NO_ERROR;
    std::string text;
};

Outcome outcome_of(rd_kafka_event_t* event, bool is_creation) {
    if (event == nullptr) {
        return {RD_KAFKA_RESP_ERR__TIMED_OUT, "no answer in time"};
    }
    if (auto code = rd_kafka_event_error(event); code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return {code, rd_kafka_event_error_string(event)};
    }
    auto count = std::size_t{0};
    const auto** results = is_creation ? rd_kafka_CreateTopics_result_topics(
                                             rd_kafka_event_CreateTopics_result(event), &count)
                                       : rd_kafka_DeleteTopics_result_topics(
                                             rd_kafka_event_DeleteTopics_result(event), &count);
    if (count != 1) {
        return {RD_KAFKA_RESP_ERR_UNKNOWN, "an answer about no topic"};
    }
    auto code = rd_kafka_topic_result_error(results[0]);
    const auto* text = rd_kafka_topic_result_error_string(results[0]);
    return {code, text == nullptr ? rd_kafka_err2str(code) : text};
}

} // namespace

Result<std::unique_ptr<TopicAdmin>> TopicAdmin::open(const Options& options,
                                                     observe::Diagnostics& diag) {
    auto admin = std::unique_ptr<TopicAdmin>{new TopicAdmin{options}};
    // A consumer asks about a topic without making it.
    admin->client_ = TRY(Client::open(Role::Consumer, options, diag, *admin));
    return admin;
}

void TopicAdmin::on_error(rd_kafka_resp_err_t /*code*/, std::string_view reason) {
    reason_ = reason;
}

Error TopicAdmin::unreachable(rd_kafka_resp_err_t code) {
    rd_kafka_poll(client_->get(), 0);
    auto brokers = std::string{};
    for (const auto& broker : options_.brokers) {
        brokers += (brokers.empty() ? "" : ",") + broker;
    }
    return {Errc::Unavailable, fmt::format("Kafka at {} does not answer: {}", brokers,
                                           reason_.empty() ? rd_kafka_err2str(code) : reason_)};
}

Result<std::optional<TopicAdmin::Shape>> TopicAdmin::find(const std::string& topic) {
    auto handle = std::unique_ptr<rd_kafka_topic_t, TopicDeleter>{
        rd_kafka_topic_new(client_->get(), topic.c_str(), nullptr)};
    // Asked about one topic, 0.9 makes it.
    auto is_all = options_.version == Version::Kafka09;
    const rd_kafka_metadata_t* found = nullptr;
    auto code = rd_kafka_metadata(client_->get(), is_all ? 1 : 0, is_all ? nullptr : handle.get(),
                                  &found, metadata_wait);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return std::unexpected(unreachable(code));
    }
    auto metadata = std::unique_ptr<const rd_kafka_metadata_t, MetadataDeleter>{found};
    for (auto at = 0; at < metadata->topic_cnt; ++at) {
        const auto& each = metadata->topics[at];
        if (each.topic != topic || errc_of(each.err) == Errc::NotFound) {
            continue;
        }
        if (each.err == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED) {
            return fail(Errc::Unavailable, "topic {}: {}", topic, rd_kafka_err2str(each.err));
        }
        auto shape = Shape{.partitions = each.partition_cnt};
        for (auto partition = 0; partition < each.partition_cnt; ++partition) {
            shape.is_led = shape.is_led && each.partitions[partition].leader >= 0;
        }
        return shape;
    }
    return std::nullopt;
}

Result<std::optional<int>> TopicAdmin::count_partitions(const std::string& topic) {
    auto shape = TRY(find(topic));
    return shape ? std::optional{shape->partitions} : std::nullopt;
}

Result<rd_kafka_resp_err_t> TopicAdmin::ask_to_create(const std::string& topic, int partitions) {
    if (options_.version == Version::Kafka09) {
        return fail(Errc::Unsupported, unsupported_text, topic, partitions);
    }
    auto text = std::array<char, 256>{};
    auto wanted = std::unique_ptr<rd_kafka_NewTopic_t, NewTopicDeleter>{rd_kafka_NewTopic_new(
        topic.c_str(), partitions, options_.replication, text.data(), text.size())};
    if (wanted == nullptr) {
        return fail(Errc::InvalidInput, "topic {} cannot be made: {}", topic, text.data());
    }
    for (const auto& [name, value] : options_.creation) {
        rd_kafka_NewTopic_set_config(wanted.get(), name.c_str(), value.c_str());
    }
    auto settings = std::unique_ptr<rd_kafka_AdminOptions_t, OptionsDeleter>{
        rd_kafka_AdminOptions_new(client_->get(), RD_KAFKA_ADMIN_OP_CREATETOPICS)};
    rd_kafka_AdminOptions_set_request_timeout(settings.get(), request_wait, text.data(),
                                              text.size());
    auto answers = Queue{rd_kafka_queue_new(client_->get())};
    auto* list = wanted.get();
    rd_kafka_CreateTopics(client_->get(), &list, 1, settings.get(), answers.get());
    auto event = AnyEvent{rd_kafka_queue_poll(answers.get(), request_wait + 1000)};
    auto outcome = outcome_of(event.get(), true);
    if (outcome.code == RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE) {
        return fail(Errc::Unsupported, unsupported_text, topic, partitions);
    }
    if (outcome.code != RD_KAFKA_RESP_ERR_NO_ERROR &&
        outcome.code != RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS) {
        return fail(errc_of(outcome.code), "topic {} cannot be made: {}", topic, outcome.text);
    }
    return outcome.code;
}

Result<void> TopicAdmin::create(const std::string& topic, int partitions) {
    auto end = steady_now() + settle_wait;
    auto shape = TRY(find(topic));
    if (!shape) {
        std::ignore = TRY(ask_to_create(topic, partitions));
    }
    while (!shape || shape->partitions == 0 || !shape->is_led) {
        if (steady_now() > end) {
            return fail(Errc::Unavailable, "topic {} has no leaders yet", topic);
        }
        std::this_thread::sleep_for(settle_step);
        shape = TRY(find(topic));
    }
    if (shape->partitions != partitions) {
        return fail(Errc::Conflict,
                    "topic {} has {} partitions, expected {}, one for each shard: choose another "
                    "prefix, or as many shards",
                    topic, shape->partitions, partitions);
    }
    return {};
}

Result<void> TopicAdmin::remove(const std::string& topic) {
    if (options_.version == Version::Kafka09) {
        return fail(Errc::Unsupported,
                    "this Kafka does not let clients remove topics: remove {} "
                    "by kafka-topics.sh --delete",
                    topic);
    }
    auto text = std::array<char, 256>{};
    auto wanted = std::unique_ptr<rd_kafka_DeleteTopic_t, DeleteTopicDeleter>{
        rd_kafka_DeleteTopic_new(topic.c_str())};
    auto settings = std::unique_ptr<rd_kafka_AdminOptions_t, OptionsDeleter>{
        rd_kafka_AdminOptions_new(client_->get(), RD_KAFKA_ADMIN_OP_DELETETOPICS)};
    rd_kafka_AdminOptions_set_request_timeout(settings.get(), request_wait, text.data(),
                                              text.size());
    auto answers = Queue{rd_kafka_queue_new(client_->get())};
    auto* list = wanted.get();
    rd_kafka_DeleteTopics(client_->get(), &list, 1, settings.get(), answers.get());
    auto event = AnyEvent{rd_kafka_queue_poll(answers.get(), request_wait + 1000)};
    auto outcome = outcome_of(event.get(), false);
    if (outcome.code != RD_KAFKA_RESP_ERR_NO_ERROR && errc_of(outcome.code) != Errc::NotFound) {
        return fail(errc_of(outcome.code), "topic {} cannot be removed: {}", topic, outcome.text);
    }
    auto end = steady_now() + settle_wait;
    while (TRY(find(topic))) {
        if (steady_now() > end) {
            return fail(Errc::Unavailable, "topic {} is not gone yet", topic);
        }
        std::this_thread::sleep_for(settle_step);
    }
    return {};
}

} // namespace sluice::connector::kafka::internal
