#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace sluice::store::postgres {

/// An index row has at most a third of a page: 2704 bytes with its head.
inline constexpr auto key_bytes_max = std::size_t{2600};
/// An array of them must stay below PostgreSQL's 1 GiB for one value.
inline constexpr auto value_bytes_max = std::size_t{256} << 20U;

/// What a batch comes to: done in this order, its parts leave what its operations would have left
/// one by one. Each part is sorted and names a key once. Views into the batch's own bytes.
struct Changes {
    /// [from, to), neither overlapping nor touching.
    std::vector<std::pair<std::string_view, std::string_view>> ranges;
    std::optional<std::string_view> tail; ///< Everything from here on goes.
    std::vector<std::string_view> removals;
    std::vector<std::pair<std::string_view, std::string_view>> puts;
};

/// Of the data of a FlatBatch. LimitExceeded when a key or value is too large.
Result<Changes> changes_of(std::string_view data);

} // namespace sluice::store::postgres
