#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "connector/kafka/internal/broker_link.h"
#include "connector/kafka/internal/client.h"
#include "connector/kafka/internal/fetch_protocol.h"
#include "connector/kafka/internal/fetched_records.h"
#include "connector/kafka/internal/leaders.h"
#include "connector/kafka/options.h"
#include "event/buffer_pool.h"

namespace sluice::connector::kafka::internal {

/// Reads partitions from the brokers that lead them, by requests of our own. librdkafka, which
/// knows the brokers, would make an object of each message and hand it from thread to thread; here
/// an answer is one buffer that the events of a chunk lie in.
///
/// One thread, which should do nothing else: what is not taken off a connection at once keeps the
/// broker from sending more.
class Fetcher {
public:
    /// What came of a partition, or why nothing does.
    struct Delivery {
        PartitionName name;
        std::uint64_t term = 0; ///< As it was given when reading began.
        std::int16_t error = 0;
        std::int64_t from = 0; ///< Offset that was asked for.
        std::int64_t next = 0; ///< Offset behind what came.
        std::int64_t end = 0;  ///< Of the partition.
        FetchedRecords records;
    };

    /// Whether it can do what these options ask for.
    static bool suits(const Options& options);

    /// Client and options outlive it.
    Fetcher(rd_kafka_t* client, const Options& options);

    /// It is read from this offset on, or from a logical one.
    void begin(const PartitionName& name, std::int64_t offset, std::uint64_t term);
    void end(const PartitionName& name);

    enum class Ask : std::uint8_t { Nothing, More };
    /// Asks for more, unless it is told not to, wherever no answer is under way. Gives what has
    /// come; waits so long for the first, or until something can be read of `wake`. Unsupported:
    /// somebody else must read.
    Result<std::vector<Delivery>> poll(Ask what, Nanos wait, int wake);
    /// Why nothing comes; empty: all is well.
    const std::string& trouble() const { return trouble_; }

private:
    using Broker = Leaders::Broker;

    struct Read {
        PartitionName name;
        std::int64_t offset; ///< That is to be read next.
        std::uint64_t term;
    };
    struct Link {
        BrokerLink link;
        std::vector<Read> asked{};
    };

    void ask();
    void prepare(Nanos wait);
    Result<void> find_leaders(Nanos wait);
    Result<void> connect(Broker broker);
    Result<void> greet(BrokerLink& link) const;
    void wait_for_answers(Nanos wait, int wake);
    void take_answers(std::vector<Delivery>& deliveries);
    Result<void> take_answer(Link& link, std::vector<Delivery>& deliveries);
    Result<void> take(const Read& asked, const Fetched& fetched,
                      const std::shared_ptr<const std::string>& answer,
                      std::vector<Delivery>& deliveries);
    void lose(Broker broker, const Error& why);
    Read* find(const PartitionName& name);

    const Options& options_;
    Leaders leaders_;
    std::vector<Read> readings_;
    std::map<Broker, Link> links_;
    event::BufferPool buffers_;
    std::size_t turn_ = 0; ///< Which partition is asked for first.
    std::string trouble_;
    bool is_unsupported_ = false; ///< A broker does not know what we ask, or we what it sent.
    Nanos pause_{0};
    Nanos again_at_{0};
};

} // namespace sluice::connector::kafka::internal
