#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "connector/kafka/internal/binding.h"
#include "connector/kafka/internal/client.h"
#include "connector/kafka/internal/partitions.h"
#include "event/source.h"

namespace sluice::connector::kafka::internal {

/// What all sources on Kafka have in common: one client, one queue, messages in turn by partition,
/// and the group's position, which follows what is durable.
///
/// Which partitions are read, and from where, is for those that derive from it.
class Reader : public event::Source, protected Listener {
public:
    std::string_view name() const override { return name_; }
    /// Those that are found while it reads are not among them.
    Result<std::vector<std::string>> partitions() override { return std::vector<std::string>{}; }
    Result<event::Chunk> read(std::size_t bytes_max, Nanos wait) override;
    void confirm(std::string_view partition, std::uint64_t position) override;
    std::optional<std::uint64_t> lag() override;
    std::string trouble() const override { return trouble_; }

protected:
    Reader(std::string name, const Options& options, observe::Diagnostics& diag);
    Result<void> connect();
    /// To be called by the destructor of whoever derives: tells the group's position a last time.
    void disconnect();

    /// Of the messages that wait; without records none does.
    virtual Result<event::Chunk> next_chunk(std::size_t bytes_max);
    /// Takes in messages, waiting so long for the first.
    virtual void poll(Nanos wait);
    /// Looks after what is due, such as new partitions, at most this long.
    virtual void tend(Nanos wait) = 0;
    virtual std::uint64_t number_of(Partition& partition, std::int64_t offset) = 0;
    virtual bool is_numbered() const = 0;
    /// The offset behind this number; none: it belongs to an earlier time.
    virtual std::int64_t offset_behind(const Partition& partition, std::uint64_t number) const = 0;

    void on_error(rd_kafka_resp_err_t code, std::string_view reason) override;
    void on_commit(rd_kafka_resp_err_t code) override;

    rd_kafka_t* handle() const { return client_->get(); }
    rd_kafka_queue_t* queue() const { return queue_.get(); }
    std::int64_t number(const char* property) const { return client_->number(property); }
    /// Where a partition begins that was never read.
    std::int64_t start_offset() const {
        return options_.start == Start::Beginning ? RD_KAFKA_OFFSET_BEGINNING : RD_KAFKA_OFFSET_END;
    }
    /// One that it cannot read on from; known to `read` until that is left or resumed.
    void stop_at(const Partition& partition, Error error);
    void forget_fault(const Partition& partition);
    /// The broker does not have what comes next in this partition.
    void stop_behind(const Partition& partition, std::string_view reason);
    /// Lets the library tell what it has to.
    void hear_client();
    /// Tells the broker what is durable, if it does not know yet.
    void commit();

    const Options options_;
    observe::Diagnostics& diag_;
    Partitions partitions_;
    std::string trouble_;
    event::ChunkBuilder builder_;

private:
    struct Fault {
        std::string partition; ///< Empty: of the whole.
        Error error;
    };

    event::Chunk take(Partition& partition, std::size_t bytes_max);
    void sort_in(long count);
    void note_failure(const rd_kafka_message_t& message);
    void look_after(Nanos wait);
    void probe(Nanos wait);
    List unconfirmed_list();

    std::string name_;
    std::unique_ptr<Client> client_;
    Queue queue_;
    std::vector<rd_kafka_message_t*> batch_;
    MessageReader message_reader_;
    std::optional<Fault> fault_;
    bool has_taken_ = false; ///< Since the client was woken last.
    Nanos commit_at_{0};
    Nanos probe_at_{0};
    bool is_commit_failing_ = false;
};

} // namespace sluice::connector::kafka::internal
