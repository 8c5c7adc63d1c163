#include "connector/kafka/internal/ceiling.h"

#include <chrono>
#include <vector>

#include "connector/kafka/internal/client.h"
#include "connector/kafka/internal/fetch_thread.h"

namespace sluice::connector::kafka::internal {

using namespace std::chrono_literals;

namespace {

constexpr auto batch_max = std::size_t{2048};
constexpr auto silence_max = Nanos{20s};

/// A client and nothing else: messages are counted and thrown away.
class Bare final : private Listener {
public:
    Bare(const Options& options, std::int32_t partition)
        : name_{.topic = options.prefix, .partition = partition}, batch_(batch_max) {}

    Result<void> open(const Options& options, observe::Diagnostics& diag) {
        client_ = TRY(Client::open(Role::Consumer, options, diag, *this));
        rd_kafka_poll_set_consumer(client_->get());
        queue_.reset(rd_kafka_queue_get_consumer(client_->get()));
        return {};
    }

    Result<void> begin_by_position() { return assign(); }
    rd_kafka_t* handle() const { return client_->get(); }

    Result<void> begin_by_group() {
        auto list = list_of(name_, RD_KAFKA_OFFSET_INVALID);
        auto code = rd_kafka_subscribe(client_->get(), list.get());
        return code == RD_KAFKA_RESP_ERR_NO_ERROR
                   ? Result<void>{}
                   : fail(Errc::Unavailable, "{}", rd_kafka_err2str(code));
    }

    /// Events a second, from the first on.
    Result<double> count(std::uint64_t events, bool is_group) {
        auto begin = Nanos{0};
        auto heard = steady_now();
        auto seen = std::uint64_t{0};
        while (seen < events) {
            auto got = next_batch();
            if (got > 0) {
                begin = seen == 0 ? steady_now() : begin;
                heard = steady_now();
            } else if (steady_now() - heard > silence_max) {
                return fail(Errc::Unavailable, "{} of {} events came, then nothing for 20 s{}{}",
                            seen, events, reason_.empty() ? "" : ": ", reason_);
            }
            seen += static_cast<std::uint64_t>(std::max(got, ssize_t{0}));
            if (is_group && got > 0) {
                rd_kafka_commit(client_->get(), list_of(name_, next_).get(), 1);
            }
        }
        auto seconds = std::chrono::duration<double>(steady_now() - begin).count();
        return static_cast<double>(seen) / std::max(seconds, 1e-9);
    }

private:
    Result<void> assign() {
        auto code =
            rd_kafka_assign(client_->get(), list_of(name_, RD_KAFKA_OFFSET_BEGINNING).get());
        return code == RD_KAFKA_RESP_ERR_NO_ERROR
                   ? Result<void>{}
                   : fail(Errc::Unavailable, "{}", rd_kafka_err2str(code));
    }

    ssize_t next_batch() {
        auto got = rd_kafka_consume_batch_queue(queue_.get(), 0, batch_.data(), batch_.size());
        if (got <= 0) {
            client_->wake();
            got = rd_kafka_consume_batch_queue(queue_.get(), 100, batch_.data(), 1);
        }
        auto messages = ssize_t{0};
        for (auto at = ssize_t{0}; at < got; ++at) {
            auto message = Message{batch_[static_cast<std::size_t>(at)]};
            if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
                next_ = message->offset + 1;
                ++messages;
            } else {
                reason_ = rd_kafka_message_errstr(message.get());
            }
        }
        return messages;
    }

    void on_error(rd_kafka_resp_err_t /*code*/, std::string_view reason) override {
        reason_ = reason;
    }

    /// A member of the group it is, but of this one partition only.
    void on_rebalance(rd_kafka_resp_err_t code,
                      rd_kafka_topic_partition_list_t& /*list*/) override {
        if (code == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
            std::ignore = assign();
        } else {
            rd_kafka_assign(client_->get(), nullptr);
        }
    }

    PartitionName name_;
    std::vector<rd_kafka_message_t*> batch_;
    std::int64_t next_ = 0;
    std::string reason_;
    std::unique_ptr<Client> client_;
    Queue queue_;
};

/// The same by our own requests.
Result<double> count_fetched(const Options& options, const PartitionName& name,
                             std::uint64_t events, observe::Diagnostics& diag) {
    auto bare = Bare{options, name.partition};
    TRY(bare.open(options, diag));
    auto fetch = FetchThread{bare.handle(), options};
    fetch.begin(name, 0);
    auto builder = event::ChunkBuilder{};
    auto begin = Nanos{0};
    auto heard = steady_now();
    auto seen = std::uint64_t{0};
    while (seen < events) {
        auto deliveries = TRY(fetch.take(100ms));
        if (deliveries.empty() && steady_now() - heard > silence_max) {
            return fail(Errc::Unavailable, "{} of {} events came, then nothing for 20 s: {}", seen,
                        events, fetch.trouble());
        }
        for (auto& delivery : deliveries) {
            heard = steady_now();
            begin = seen == 0 ? heard : begin;
            for (auto last = std::uint64_t{1}; last > 0; seen += last) {
                last = TRY(delivery.records.take(builder, ~std::size_t{0})).records.size();
            }
        }
    }
    auto seconds = std::chrono::duration<double>(steady_now() - begin).count();
    return static_cast<double>(seen) / std::max(seconds, 1e-9);
}

Result<double> count_by_position(const Options& options, std::int32_t partition,
                                 std::uint64_t events, observe::Diagnostics& diag) {
    if (Fetcher::suits(options)) {
        return count_fetched(options, {.topic = options.prefix, .partition = partition}, events,
                             diag);
    }
    auto bare = Bare{options, partition};
    TRY(bare.open(options, diag));
    TRY(bare.begin_by_position());
    return bare.count(events, false);
}

} // namespace

Result<event::Ceiling> measure(const Options& options, std::int32_t partition, std::uint64_t events,
                               observe::Diagnostics& diag) {
    auto ceiling = event::Ceiling{};
    ceiling.position_events_per_second = TRY(count_by_position(options, partition, events, diag));

    auto member = options;
    member.consume = Consume::Group;
    member.group = fmt::format("{}-bench-{}", options.prefix, steady_now().count());
    member.settings["partition.assignment.strategy"] = "range";
    auto by_group = Bare{member, partition};
    TRY(by_group.open(member, diag));
    TRY(by_group.begin_by_group());
    ceiling.group_events_per_second = TRY(by_group.count(events, true));
    return ceiling;
}

} // namespace sluice::connector::kafka::internal
