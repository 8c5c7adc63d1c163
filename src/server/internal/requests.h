#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/run_index.h"
#include "server/route_table.h"

namespace sluice::server {

/// What the parts of a request mean; each fails with InvalidInput, saying what to write instead.

engine::RunName name_of(const Incoming& incoming);

/// Refuses parameters that the route does not know; `namespace` is known to all.
Result<void> check_query(const Incoming& incoming, std::initializer_list<std::string_view> known);
Result<std::optional<std::uint64_t>> read_number(const Incoming& incoming, std::string_view name);
Result<std::size_t> read_limit(const Incoming& incoming);
/// `true` or `false`; without it `false`.
Result<bool> read_flag(const Incoming& incoming, std::string_view name);
/// `30s`; nothing without one.
Result<std::optional<Nanos>> read_duration(const Incoming& incoming, std::string_view name);

/// Which runs: by one part of the run index, and of those the ones with all of these labels.
struct RunQuery {
    engine::RunFilter filter;
    std::vector<std::string> labels; ///< `key=value`

    bool matches(const engine::RunSummary& summary) const;
};
Result<RunQuery> read_run_query(const Incoming& incoming,
                                std::initializer_list<std::string_view> others = {});

Value view_of_run(const engine::ListedRun& listed);
/// For a run that its caller gave none.
std::string make_run_id();

} // namespace sluice::server
