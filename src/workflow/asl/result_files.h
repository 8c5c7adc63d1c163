#pragma once

#include "base/result.h"
#include "value/value.h"
#include "workflow/asl/objects.h"

namespace sluice::workflow::asl {

/// Writes the outputs of a distributed map as its `ResultWriter` says: `SUCCEEDED_0.json` (or
/// `.jsonl`) and `manifest.json` under the prefix and the map run's name. Takes `{arguments,
/// config, mapRunArn, name, results}`, gives `{Bucket, Key}` of the manifest.
Result<Value> write_results(Objects& objects, const Value& request);

} // namespace sluice::workflow::asl
