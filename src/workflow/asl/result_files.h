#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "value/value.h"
#include "workflow/asl/objects.h"

namespace sluice::workflow::asl {

/// How the files of results begin.
inline constexpr auto result_kinds =
    std::array<std::string_view, 3>{"SUCCEEDED", "FAILED", "PENDING"};
/// Which of them a record belongs to: aborted ones have failed.
std::string_view result_kind_of(const Value& record);

/// Records of the children of a distributed map as `Transformation` says: what the service tells of
/// each, outputs alone (`COMPACT`), or lists among them made one (`FLATTEN`). A record is `{name,
/// status, input, output?, failure?, started?, stopped?}`; the names are those of machine and
/// execution.
std::vector<Value> transformed(const std::vector<Value>& records, std::string_view how,
                               const Value& names);

/// Writes a part of the results of a distributed map as its `ResultWriter` says: `SUCCEEDED_0.json`
/// (or `.jsonl`), `FAILED_0.json` and `PENDING_0.json` under the prefix and the map run's name; and
/// `manifest.json` with all of them, where the request says `close`. Takes `{arguments, config,
/// mapRunArn, name, machine, execution, numbers, records, part?, close?, files?}`, gives `{Bucket,
/// Key, part?}` of the manifest. Twice is the same as once. With `files`, how many there are of
/// each kind, the manifest leaves out those with higher numbers: they are from before a redrive.
Result<Value> write_results(Objects& objects, const Value& request);

} // namespace sluice::workflow::asl
