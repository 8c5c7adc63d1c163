#include "connector/kafka/producer.h"

#include <array>
#include <chrono>
#include <limits>

#include "connector/kafka/internal/binding.h"
#include "connector/kafka/internal/names.h"
#include "event/message.h"

namespace sluice::connector::kafka {

using namespace std::chrono_literals;

namespace {

constexpr auto poll_wait = 100; // ms
constexpr auto last_wait = Nanos{1s};
constexpr auto restart_pause = 200ms;

// Whoever is called back may send again: it must not wait for what only this thread can do.
thread_local bool is_called_back = false;

} // namespace

/// An event under way; librdkafka carries its address.
struct Producer::Sending {
    event::Outgoing event;
    Done done;
    std::string topic{};
    std::int32_t partition = RD_KAFKA_PARTITION_UA;
    std::string key{};
    std::string body{}; ///< In binary mode.
    internal::Headers headers{};
    bool is_binary = false;

    std::int64_t size() const { return static_cast<std::int64_t>(event.json.size()); }
};

/// Handles of topics, kept as long as their client.
struct Producer::Topics {
    std::map<std::string, rd_kafka_topic_t*, std::less<>> handles;

    ~Topics() {
        for (const auto& [name, handle] : handles) {
            rd_kafka_topic_destroy(handle);
        }
    }
    rd_kafka_topic_t* find(rd_kafka_t* client, const std::string& name) {
        auto found = handles.find(name);
        if (found == handles.end()) {
            auto* made = rd_kafka_topic_new(client, name.c_str(), nullptr);
            found = handles.emplace(name, made).first;
        }
        return found->second;
    }
};

Producer::Producer(const Options& options, observe::Diagnostics& diag)
    : options_(options), diag_(diag), topics_(std::make_unique<Topics>()) {}

Result<std::unique_ptr<Producer>> Producer::open(const Options& options,
                                                 observe::Diagnostics& diag) {
    auto producer = std::unique_ptr<Producer>{new Producer{options, diag}};
    producer->client_ =
        TRY(internal::Client::open(internal::Role::Producer, options, diag, *producer));
    // The other half is for those that must not wait: see `is_called_back`.
    producer->count_max_ = producer->client_->number("queue.buffering.max.messages") / 2;
    producer->bytes_max_ = producer->client_->number("queue.buffering.max.kbytes") * 1024 / 2;
    if (producer->count_max_ <= 0) {
        producer->count_max_ = std::numeric_limits<std::int32_t>::max();
    }
    producer->server_ = std::thread{[&it = *producer] { it.serve(); }};
    return producer;
}

Producer::~Producer() {
    if (server_.joinable()) {
        std::ignore = flush(last_wait);
        is_stopping_ = true;
        server_.join();
    }
    topics_.reset();
    client_.reset();
}

void Producer::send(event::Outgoing event, Done done) {
    auto sending =
        std::make_unique<Sending>(Sending{.event = std::move(event), .done = std::move(done)});
    wait_for_room();
    count_ += 1;
    bytes_ += sending->size();
    auto result = Result<void>{};
    {
        auto lock = std::scoped_lock{mutex_};
        result = prepare(*sending);
        if (result) {
            result = produce(*sending);
        }
    }
    if (result) {
        std::ignore = sending.release(); // It comes back with the delivery report.
    } else {
        finish(std::move(sending), std::move(result));
    }
}

bool Producer::has_room() const {
    return is_stopping_ || (!is_broken_ && count_ < count_max_ && bytes_ < bytes_max_);
}

void Producer::wait_for_room() {
    if (has_room() || is_called_back) {
        return;
    }
    auto lock = std::unique_lock{mutex_};
    ++waiters_;
    changed_.wait(lock, [&] { return has_room(); });
    --waiters_;
}

Result<void> Producer::prepare(Sending& sending) {
    const auto& to = sending.event.to.empty() && !options_.topics.empty() ? options_.topics.front()
                                                                          : sending.event.to;
    if (to.find('/') != std::string::npos) {
        auto name = TRY(internal::parse_partition_name(to));
        sending.partition = name.partition;
        sending.topic = std::move(name.topic);
        if (sending.topic == options_.prefix) {
            return {}; // A bus: its readers know what it carries.
        }
    } else if (internal::is_topic_name(to)) {
        sending.topic = to;
    } else {
        return fail(Errc::InvalidInput, "'{}' is no topic: expected topic or topic/number", to);
    }
    auto event = TRY(codec_.parse(sending.event.json));
    auto key = event.attribute("partitionkey");
    sending.key = key && key->is_string() ? key->as_string() : event.run();
    if (options_.mode == Mode::Binary) {
        auto message = event::to_binary(event);
        sending.headers = internal::binary_headers(message);
        sending.body = std::move(message.body);
        sending.is_binary = true;
    } else if (options_.version == Version::Current) {
        sending.headers = internal::structured_headers();
    }
    return {};
}

Result<void> Producer::produce(Sending& sending) {
    auto& body = sending.is_binary ? sending.body : sending.event.json;
    auto values = std::array<rd_kafka_vu_t, 7>{};
    auto count = std::size_t{0};
    auto add = [&](rd_kafka_vtype_t type) -> auto& {
        values[count].vtype = type;
        return values[count++].u;
    };
    add(RD_KAFKA_VTYPE_RKT).rkt = topics_->find(client_->get(), sending.topic);
    add(RD_KAFKA_VTYPE_PARTITION).i32 = sending.partition;
    add(RD_KAFKA_VTYPE_MSGFLAGS).i = 0; // Neither copied nor freed: it lies in `sending`.
    add(RD_KAFKA_VTYPE_OPAQUE).ptr = &sending;
    // No data in binary mode is no value at all.
    add(RD_KAFKA_VTYPE_VALUE).mem = {.ptr = body.empty() ? nullptr : body.data(),
                                     .size = body.size()};
    if (!sending.key.empty()) {
        add(RD_KAFKA_VTYPE_KEY).mem = {.ptr = sending.key.data(), .size = sending.key.size()};
    }
    auto* headers = sending.headers.release();
    if (headers != nullptr) {
        add(RD_KAFKA_VTYPE_HEADERS).headers = headers;
    }
    auto* error = rd_kafka_produceva(client_->get(), values.data(), count);
    if (error == nullptr) {
        return {};
    }
    sending.headers.reset(headers); // They stay ours when it fails.
    auto code = rd_kafka_error_code(error);
    auto text = std::string{rd_kafka_error_string(error)};
    rd_kafka_error_destroy(error);
    return fail(internal::errc_of(code), "{} does not take the event: {}", sending.topic, text);
}

void Producer::on_delivery(const rd_kafka_message_t& message) {
    deliveries_.push_back({static_cast<Sending*>(message._private), message.err});
}

void Producer::poll() {
    rd_kafka_poll(client_->get(), poll_wait);
    for (const auto& delivery : deliveries_) {
        auto sending = std::unique_ptr<Sending>{delivery.sending};
        auto result = Result<void>{};
        if (delivery.code != RD_KAFKA_RESP_ERR_NO_ERROR) {
            result = fail(internal::errc_of(delivery.code), "{} has not confirmed the event: {}",
                          sending->topic, rd_kafka_err2str(delivery.code));
        }
        finish(std::move(sending), std::move(result));
    }
    deliveries_.clear();
}

void Producer::purge() {
    rd_kafka_purge(client_->get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    while (rd_kafka_outq_len(client_->get()) > 0) {
        poll();
    }
}

void Producer::finish(std::unique_ptr<Sending> sending, Result<void> result) {
    auto size = sending->size();
    auto was_called_back = std::exchange(is_called_back, true);
    sending->done(std::move(result));
    sending.reset();
    is_called_back = was_called_back;
    bytes_ -= size;
    if (--count_ == 0 || waiters_ > 0) {
        // Whoever waits has counted itself and looked, or looks only now.
        {
            auto lock = std::scoped_lock{mutex_};
        }
        changed_.notify_all();
    }
}

Result<void> Producer::flush(Nanos wait) {
    auto lock = std::unique_lock{mutex_};
    ++waiters_;
    auto is_done = changed_.wait_for(lock, wait, [&] { return count_ == 0; });
    --waiters_;
    if (is_done) {
        return {};
    }
    return fail(Errc::Unavailable, "{} events are not confirmed yet{}{}", count_.load(),
                trouble_.empty() ? "" : ": ", trouble_);
}

void Producer::on_error(rd_kafka_resp_err_t code, std::string_view reason) {
    if (code == RD_KAFKA_RESP_ERR__FATAL) {
        is_broken_ = true;
    }
    auto lock = std::scoped_lock{mutex_};
    trouble_ = reason;
}

void Producer::serve() {
    while (!is_stopping_) {
        poll();
        if (is_broken_) {
            if (auto done = restart(); !done) {
                diag_.error("no new Kafka client", {{"reason", done.error().message}});
                std::this_thread::sleep_for(restart_pause);
            }
        }
    }
    purge();
}

Result<void> Producer::restart() {
    // Everything under way is refused before anything new goes out: order holds.
    purge();
    auto fresh = TRY(internal::Client::open(internal::Role::Producer, options_, diag_, *this));
    auto topics = std::make_unique<Topics>();
    {
        auto lock = std::scoped_lock{mutex_};
        std::swap(topics_, topics);
        std::swap(client_, fresh);
        is_broken_ = false;
        diag_.warn("the Kafka producer began anew", {{"reason", trouble_}});
    }
    changed_.notify_all();
    topics.reset();
    return {};
}

} // namespace sluice::connector::kafka
