#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "connector/kafka/internal/record_batch.h"

namespace sluice::connector::kafka::testing {

/// A record batch as a broker sends it, for tests of what reads them.
struct BatchWriter {
    struct Record {
        std::string value;
        std::vector<std::pair<std::string, std::string>> headers{};
        std::string key{};
    };

    std::int64_t base_offset = 0;
    std::vector<Record> records{};
    internal::Packing packing = internal::Packing::None;
    std::int64_t producer = -1;
    bool is_transactional = false;
    bool is_control = false;
    char format = 2;
    std::int32_t offsets = -1; ///< That the batch takes; -1: one for each record.

    std::string bytes() const;
};

/// What the broker writes at the end of a transaction that was given up.
BatchWriter abort_mark(std::int64_t offset, std::int64_t producer);

} // namespace sluice::connector::kafka::testing
