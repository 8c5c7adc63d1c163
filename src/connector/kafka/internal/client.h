#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <librdkafka/rdkafka.h>

#include "base/clock.h"
#include "base/result.h"
#include "connector/kafka/internal/names.h"
#include "connector/kafka/internal/properties.h"
#include "connector/kafka/options.h"
#include "observe/diagnostics.h"

namespace sluice::connector::kafka::internal {

struct ListDeleter {
    void operator()(rd_kafka_topic_partition_list_t* list) const {
        rd_kafka_topic_partition_list_destroy(list);
    }
};
using List = std::unique_ptr<rd_kafka_topic_partition_list_t, ListDeleter>;

struct QueueDeleter {
    void operator()(rd_kafka_queue_t* queue) const { rd_kafka_queue_destroy(queue); }
};
using Queue = std::unique_ptr<rd_kafka_queue_t, QueueDeleter>;

struct MessageDeleter {
    void operator()(rd_kafka_message_t* message) const { rd_kafka_message_destroy(message); }
};
using Message = std::unique_ptr<rd_kafka_message_t, MessageDeleter>;

/// What a client tells whoever polls it, on that thread.
class Listener {
public:
    virtual ~Listener() = default;
    virtual void on_error(rd_kafka_resp_err_t code, std::string_view reason) = 0;
    virtual void on_delivery(const rd_kafka_message_t& /*message*/) {}
    virtual void on_rebalance(rd_kafka_resp_err_t /*code*/,
                              rd_kafka_topic_partition_list_t& /*list*/) {}
    virtual void on_commit(rd_kafka_resp_err_t /*code*/) {}
};

/// A handle of librdkafka. What it logs goes to the diagnostics, without secrets.
class Client {
public:
    /// The listener must outlive it.
    static Result<std::unique_ptr<Client>> open(Role role, const Options& options,
                                                observe::Diagnostics& diag, Listener& listener);
    /// Messages must be gone before. Takes as long as its threads need to end, never a broker's
    /// answer.
    ~Client();
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    rd_kafka_t* get() const { return handle_; }
    /// A property as it stands, such as `queue.buffering.max.kbytes`.
    std::int64_t number(const char* property) const;
    /// When a full queue has stopped the fetching, version 2.0 of the library looks again only
    /// after up to a second, whatever was taken meanwhile: this makes it look now.
    void wake();

private:
    Client(const Options& options, observe::Diagnostics& diag, Listener& listener);
    static void set_callbacks(rd_kafka_conf_t* conf, Role role, const Options& options);
    void tell(int level, const char* facility, std::string_view text) const;

    observe::Diagnostics& diag_;
    Listener& listener_;
    std::vector<std::string> secrets_;
    std::string user_;
    std::string password_;
    rd_kafka_t* handle_ = nullptr;
};

/// In the words that errors have here.
Errc errc_of(rd_kafka_resp_err_t code);

int to_milliseconds(Nanos wait);
Nanos steady_now();

/// One partition, from this offset on.
List list_of(const PartitionName& name, std::int64_t offset);

/// With secrets put out of sight.
std::string scrubbed(std::string_view text, const std::vector<std::string>& secrets);

} // namespace sluice::connector::kafka::internal
