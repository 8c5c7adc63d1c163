#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace sluice::connector::kafka::internal {

/// Error codes of the protocol that mean something of their own here.
enum class FetchError : std::int16_t {
    None = 0,
    OffsetOutOfRange = 1,
};

/// A partition of which more is wanted.
struct Wanted {
    std::string_view topic;
    std::int32_t partition = 0;
    std::int64_t offset = 0;
};

struct FetchLimits {
    Nanos wait{0}; ///< For the first record, on the broker's side.
    std::int32_t bytes_max = 0;
    std::int32_t partition_bytes_max = 0;
};

/// A transaction that was given up: its records from there on do not count.
struct Aborted {
    std::int64_t producer = 0;
    std::int64_t first_offset = 0;
};

/// What a broker sent of one partition.
struct Fetched {
    std::string_view topic;
    std::int32_t partition = 0;
    std::int16_t error = 0;
    std::int64_t end = 0; ///< Offset behind the last record that all replicas have.
    std::vector<Aborted> aborted{};
    std::string_view batches;
};

/// Requests of the Kafka protocol as they are sent, size included. Fetch is version 4, which
/// brokers from 0.11 on understand, and sees only what was committed.
std::string versions_request();
std::string fetch_request(std::span<const Wanted> wanted, const FetchLimits& limits);

/// Answers, without their size. Corrupt when they are not what the protocol says.
Result<bool> takes_our_fetch(std::string_view versions_answer);
Result<std::vector<Fetched>> read_fetch_answer(std::string_view answer);

} // namespace sluice::connector::kafka::internal
