#pragma once

#include <memory>
#include <string>
#include <vector>

#include "connector/kafka/internal/fetch_thread.h"
#include "connector/kafka/internal/reader.h"

namespace sluice::connector::kafka::internal {

/// Which partitions are read: those that are resumed, or all of the topics.
enum class Scope : std::uint8_t { Resumed, Topics };

/// Reads partitions by positions that are kept elsewhere: the number of a message is its offset
/// and one. The group's position only follows, for others to see.
class PositionSource final : public Reader {
public:
    static Result<std::unique_ptr<PositionSource>> open(std::string name, const Options& options,
                                                        Scope scope, observe::Diagnostics& diag);
    ~PositionSource() override;

    /// Of the topics that are there. Unavailable when no broker tells.
    Result<std::vector<std::string>> partitions() override;
    Result<void> resume(std::string_view partition, std::uint64_t position) override;
    void leave(std::string_view partition) override;

private:
    PositionSource(std::string name, const Options& options, Scope scope,
                   observe::Diagnostics& diag);

    Result<event::Chunk> next_chunk(std::size_t bytes_max) override;
    void poll(Nanos wait) override;
    void tend(Nanos wait) override;
    std::uint64_t number_of(Partition& partition, std::int64_t offset) override;
    bool is_numbered() const override { return true; }
    std::int64_t offset_behind(const Partition& partition, std::uint64_t number) const override;

    Result<void> check_held(const PartitionName& name, std::int64_t offset);
    Result<void> assign(Partition& partition, std::int64_t offset);
    Result<void> assign_to_client(const PartitionName& name, std::int64_t offset);
    void take(Fetcher::Delivery&& delivery);
    /// From here on the library reads.
    void hand_to_client(const Error& why);
    /// NotFound for a topic that is not there.
    Result<int> count_partitions(rd_kafka_topic_t* topic, Nanos wait);
    /// Reads those of a topic that are not read yet; false when the broker does not tell.
    bool find_partitions(rd_kafka_topic_t* topic, Nanos wait);

    Scope scope_;
    std::unique_ptr<FetchThread> fetcher_; ///< Null: the library reads.
    bool is_fetcher_troubled_ = false;     ///< The trouble is of its telling.
    std::vector<rd_kafka_topic_t*> topics_;
    Nanos refresh_interval_{0};
    Nanos refresh_at_{0};
    bool has_begun_ = false; ///< All topics were looked at once: what is found later is new.
};

} // namespace sluice::connector::kafka::internal
