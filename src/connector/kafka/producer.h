#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "connector/kafka/internal/client.h"
#include "connector/kafka/options.h"
#include "event/codec.h"
#include "event/producer.h"

namespace sluice::connector::kafka {

/// Puts events on topics, idempotent and confirmed by all replicas in sync.
///
/// `to` is `topic/3` for one partition, or `topic`: then the event's attribute `partitionkey`, or
/// else its run, chooses. Nothing is given up while the broker is away, so that order holds; what
/// is under way is bounded, and `send` waits for room.
class Producer final : public event::Producer, private internal::Listener {
public:
    /// The topic of a bus carries JSON alone; that it is an event goes without saying.
    static Result<std::unique_ptr<Producer>> open(const Options& options,
                                                  observe::Diagnostics& diag);
    /// What is not confirmed after a moment is refused.
    ~Producer() override;

    void send(event::Outgoing event, Done done) override;
    Result<void> flush(Nanos wait) override;

private:
    struct Sending;
    struct Topics;

    Producer(const Options& options, observe::Diagnostics& diag);

    void on_error(rd_kafka_resp_err_t code, std::string_view reason) override;
    void on_delivery(const rd_kafka_message_t& message) override;

    void wait_for_room();
    bool has_room() const;
    Result<void> prepare(Sending& sending);
    Result<void> produce(Sending& sending);
    void finish(std::unique_ptr<Sending> sending, Result<void> result);
    Result<void> restart();
    void serve();
    /// Takes what the client has to tell and passes it on, once the client has returned.
    void poll();
    void purge();

    const Options options_;
    observe::Diagnostics& diag_;
    std::int64_t count_max_ = 0;
    std::int64_t bytes_max_ = 0;

    std::atomic<std::int64_t> count_{0}; ///< Under way.
    std::atomic<std::int64_t> bytes_{0};
    std::atomic<int> waiters_{0};
    std::atomic<bool> is_broken_{false}; ///< The client is of no use any more: a new one follows.
    std::atomic<bool> is_stopping_{false};

    std::mutex mutex_; ///< Guards what follows, and is what waiting threads wake by.
    std::condition_variable changed_;
    event::Codec codec_;
    std::unique_ptr<internal::Client> client_;
    std::unique_ptr<Topics> topics_;
    std::string trouble_;

    struct Delivery {
        Sending* sending;
        rd_kafka_resp_err_t code;
    };
    std::vector<Delivery> deliveries_; ///< The server's own.
    std::thread server_;
};

} // namespace sluice::connector::kafka
