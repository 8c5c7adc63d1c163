#include "connector/kafka/internal/client.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <limits>

namespace sluice::connector::kafka::internal {

namespace {

constexpr int level_critical = 2; // syslog's numbers
constexpr int level_warning = 4;
constexpr int level_info = 6;

observe::Level level_of(int syslog) {
    // What the client calls an error, such as a connection refused, it mends itself.
    return syslog <= level_critical  ? observe::Level::Error
           : syslog <= level_warning ? observe::Level::Warn
           : syslog <= level_info    ? observe::Level::Info
                                     : observe::Level::Debug;
}

} // namespace

std::string scrubbed(std::string_view text, const std::vector<std::string>& secrets) {
    auto clean = std::string{text};
    for (const auto& secret : secrets) {
        for (auto at = clean.find(secret); at != std::string::npos; at = clean.find(secret, at)) {
            clean.replace(at, secret.size(), "***");
            at += 3;
        }
    }
    return clean;
}

Errc errc_of(rd_kafka_resp_err_t code) {
    switch (code) {
        case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
        case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
        case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION: return Errc::NotFound;
        case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
        case RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE: return Errc::LimitExceeded;
        case RD_KAFKA_RESP_ERR__INVALID_ARG:
        case RD_KAFKA_RESP_ERR_INVALID_RECORD:
        case RD_KAFKA_RESP_ERR_INVALID_MSG:
        case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
        case RD_KAFKA_RESP_ERR_INVALID_CONFIG:
        case RD_KAFKA_RESP_ERR_INVALID_PARTITIONS:
        case RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR: return Errc::InvalidInput;
        case RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE:
        case RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION: return Errc::Unsupported;
        case RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS: return Errc::AlreadyExists;
        default: return Errc::Unavailable;
    }
}

int to_milliseconds(Nanos wait) {
    auto whole = std::chrono::ceil<std::chrono::milliseconds>(wait).count();
    return static_cast<int>(std::clamp<std::int64_t>(whole, 0, std::numeric_limits<int>::max()));
}

Nanos steady_now() {
    return SystemClock{}.steady();
}

List list_of(const PartitionName& name, std::int64_t offset) {
    auto list = List{rd_kafka_topic_partition_list_new(1)};
    rd_kafka_topic_partition_list_add(list.get(), name.topic.c_str(), name.partition)->offset =
        offset;
    return list;
}

Client::Client(const Options& options, observe::Diagnostics& diag, Listener& listener)
    : diag_(diag),
      listener_(listener),
      secrets_(secrets_of(options)),
      user_(options.user),
      password_(options.password) {}

Result<std::unique_ptr<Client>> Client::open(Role role, const Options& options,
                                             observe::Diagnostics& diag, Listener& listener) {
    auto conf = TRY(make_conf(role, options));
    auto client = std::unique_ptr<Client>{new Client{options, diag, listener}};
    rd_kafka_conf_set_opaque(conf.get(), client.get());
    set_callbacks(conf.get(), role, options);
    auto text = std::array<char, 512>{};
    client->handle_ = rd_kafka_new(role == Role::Consumer ? RD_KAFKA_CONSUMER : RD_KAFKA_PRODUCER,
                                   conf.get(), text.data(), text.size());
    if (client->handle_ == nullptr) {
        return fail(Errc::InvalidInput, "the Kafka client does not take its settings: {}",
                    scrubbed(text.data(), client->secrets_));
    }
    // A client that was made has taken the settings over.
    std::ignore = conf.release();
    return client;
}

void Client::set_callbacks(rd_kafka_conf_t* conf, Role role, const Options& options) {
    rd_kafka_conf_set_log_cb(
        conf, [](const rd_kafka_t* handle, int level, const char* facility, const char* text) {
            static_cast<const Client*>(rd_kafka_opaque(handle))->tell(level, facility, text);
        });
    rd_kafka_conf_set_error_cb(conf, [](rd_kafka_t*, int code, const char* reason, void* opaque) {
        auto& client = *static_cast<Client*>(opaque);
        client.listener_.on_error(static_cast<rd_kafka_resp_err_t>(code),
                                  scrubbed(reason, client.secrets_));
    });
    if (role == Role::Producer) {
        rd_kafka_conf_set_dr_msg_cb(
            conf, [](rd_kafka_t*, const rd_kafka_message_t* message, void* opaque) {
                static_cast<Client*>(opaque)->listener_.on_delivery(*message);
            });
        return;
    }
    rd_kafka_conf_set_offset_commit_cb(
        conf, [](rd_kafka_t*, rd_kafka_resp_err_t code, rd_kafka_topic_partition_list_t*,
                 void* opaque) { static_cast<Client*>(opaque)->listener_.on_commit(code); });
    if (options.consume == Consume::Group) {
        rd_kafka_conf_set_rebalance_cb(
            conf, [](rd_kafka_t*, rd_kafka_resp_err_t code, rd_kafka_topic_partition_list_t* list,
                     void* opaque) {
                static_cast<Client*>(opaque)->listener_.on_rebalance(code, *list);
            });
    }
}

Client::~Client() {
    if (handle_ != nullptr) {
        rd_kafka_destroy_flags(handle_, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    }
}

std::int64_t Client::number(const char* property) const {
    auto text = std::array<char, 64>{};
    auto size = text.size();
    auto number = std::int64_t{0};
    if (rd_kafka_conf_get(rd_kafka_conf(handle_), property, text.data(), &size) ==
        RD_KAFKA_CONF_OK) {
        std::from_chars(text.data(), text.data() + size, number);
    }
    return number;
}

void Client::wake() {
    // Setting the credentials that it has already does nothing but wake the brokers' threads.
    if (auto* error = rd_kafka_sasl_set_credentials(handle_, user_.c_str(), password_.c_str())) {
        rd_kafka_error_destroy(error);
    }
}

void Client::tell(int level, const char* facility, std::string_view text) const {
    auto wanted = level_of(level);
    if (!diag_.is_heard(wanted)) {
        return;
    }
    auto clean = scrubbed(text, secrets_);
    constexpr std::string_view message = "the Kafka client says";
    switch (wanted) {
        case observe::Level::Error:
            return diag_.error(message, {{"about", facility}, {"text", clean}});
        case observe::Level::Warn:
            return diag_.warn(message, {{"about", facility}, {"text", clean}});
        case observe::Level::Info:
            return diag_.info(message, {{"about", facility}, {"text", clean}});
        case observe::Level::Debug:
            return diag_.debug(message, {{"about", facility}, {"text", clean}});
    }
}

} // namespace sluice::connector::kafka::internal
