#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "connector/kafka/internal/client.h"
#include "connector/kafka/internal/fetched_records.h"
#include "connector/kafka/internal/names.h"

namespace sluice::connector::kafka::internal {

/// A partition that is read, was read, or is left alone.
struct Partition {
    static constexpr std::int64_t none = -1;

    PartitionName name;
    std::string text; ///< Of the name.
    bool is_assigned = false;
    bool is_left = false;
    std::int64_t start = none;     ///< As it was assigned: an offset, or a logical one.
    std::int64_t begin = none;     ///< Offset where this assignment began; none: not known yet.
    std::int64_t next = none;      ///< Offset behind what was handed out.
    std::int64_t fetched = none;   ///< Offset behind what waits.
    std::int64_t confirmed = none; ///< Offset behind what is durable.
    std::int64_t committed = none; ///< What the broker was told of it.
    std::optional<std::int64_t> shift{}; ///< From offsets to numbers, where they are counted.
    std::uint64_t first = 1;             ///< Number that this assignment began with.
    std::uint64_t last = 0;              ///< Number handed out last.
    std::int64_t end = none;             ///< Offset behind all there is, where it is known.
    std::uint64_t term = 0;              ///< Of this assignment, where we read by ourselves.
    std::vector<Message> waiting{};
    std::size_t taken = 0;                ///< Of those that wait.
    std::deque<FetchedRecords> records{}; ///< Those that wait, where we read by ourselves.

    /// It is read from this offset on; a logical one when it is negative.
    void assign(std::int64_t offset);
    bool has_waiting() const { return taken < waiting.size() || !records.empty(); }
    void drop_waiting();
};

/// All partitions, and those of them in turn that have messages.
class Partitions {
public:
    Partition* find(std::string_view topic, std::int32_t number);
    Partition* find(std::string_view text);
    Partition& make(const PartitionName& name);

    /// Takes over what was read; what belongs to no partition that is read, or was read before, is
    /// dropped.
    void add(Message message);
    void add(Partition& partition, FetchedRecords records);
    /// The next with messages; null: none waits.
    Partition* first_waiting();
    /// It is read no more: what waits is dropped.
    void unassign(Partition& partition);

    template <typename Visit>
    void each(Visit visit) {
        for (auto& [topic, partitions] : topics_) {
            for (auto& partition : partitions) {
                if (partition != nullptr) {
                    visit(*partition);
                }
            }
        }
    }

private:
    std::map<std::string, std::vector<std::unique_ptr<Partition>>, std::less<>> topics_;
    std::deque<Partition*> turns_;
};

} // namespace sluice::connector::kafka::internal
