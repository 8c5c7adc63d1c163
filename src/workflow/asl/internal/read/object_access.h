#pragma once

#include <optional>

#include "workflow/asl/internal/read/object.h"
#include "workflow/asl/machine.h"

namespace sluice::workflow::asl::internal {

/// What a distributed Map reads its items from, how it puts them together and where results go;
/// nothing when the Map state has no such field.
std::optional<ObjectAccess> read_item_reader(const Object& map, Language language);
std::optional<ItemBatcher> read_item_batcher(const Object& map, Language language);
std::optional<ObjectAccess> read_result_writer(const Object& map, Language language);

} // namespace sluice::workflow::asl::internal
