#pragma once

#include <memory>

#include "base/result.h"
#include "connector/nats/form.h"
#include "event/source.h"
#include "observe/diagnostics.h"

namespace sluice::connector::nats {

/// A source as people write it; nothing is read before partitions are resumed. Its partitions are
/// the streams, or the subject. The diagnostics outlive it.
///
/// Fails when the server refuses the login or cannot be trusted; one that is not there yet is
/// waited for in `read`.
Result<std::unique_ptr<event::Source>> open_source(const SourceOptions& options,
                                                   observe::Diagnostics& diagnostics);

} // namespace sluice::connector::nats
