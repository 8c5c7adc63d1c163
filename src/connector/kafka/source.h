#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "connector/kafka/options.h"
#include "event/source.h"
#include "observe/diagnostics.h"

namespace sluice::connector::kafka {

/// The topics of the options, all their partitions and those that are added to them, each named
/// `topic/number`; by our own position or, if they say so, as a member of a group.
///
/// Fails with InvalidInput; that no broker answers is no failure but `trouble`.
Result<std::unique_ptr<event::Source>> open_source(std::string name, const Options& options,
                                                   observe::Diagnostics& diag);

/// Only partitions that are resumed: those of a bus.
Result<std::unique_ptr<event::Source>> open_partitions(std::string name, const Options& options,
                                                       observe::Diagnostics& diag);

} // namespace sluice::connector::kafka
