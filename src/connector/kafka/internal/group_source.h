#pragma once

#include <memory>
#include <string>

#include "connector/kafka/internal/reader.h"

namespace sluice::connector::kafka::internal {

/// Reads as a member of a group: the broker says which partitions, and from where.
///
/// The group's position is moved when what was read is durable. It is the group's and not ours:
/// others may read on for us, and people may set it back to have events again. So the partitions
/// are not numbered, and numbers count on whatever the broker sends anew.
class GroupSource final : public Reader {
public:
    static Result<std::unique_ptr<GroupSource>> open(std::string name, const Options& options,
                                                     observe::Diagnostics& diag);
    ~GroupSource() override;

    /// Only undoes `leave`: where to read from is known to the broker.
    Result<void> resume(std::string_view partition, std::uint64_t position) override;
    void leave(std::string_view partition) override;

private:
    using Reader::Reader;

    void tend(Nanos /*wait*/) override {}
    std::uint64_t number_of(Partition& partition, std::int64_t offset) override;
    bool is_numbered() const override { return false; }
    std::int64_t offset_behind(const Partition& partition, std::uint64_t number) const override;

    void on_rebalance(rd_kafka_resp_err_t code, rd_kafka_topic_partition_list_t& list) override;
    void take_over(rd_kafka_topic_partition_list_t& list);
    void give_up(rd_kafka_topic_partition_list_t& list);
    void pause(const Partition& partition);
    bool is_cooperative() const;
};

} // namespace sluice::connector::kafka::internal
