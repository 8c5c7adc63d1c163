#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace sluice::trigger::internal {

/// A history record as the store keeps it: docs/formats/history.md. Packed into `room` where that
/// is worth it, else the record itself.
std::string_view pack(std::string_view record, std::string& room);
bool is_packed(std::string_view stored);
/// The record as it was. Fails with Corrupt.
Result<std::string> unpack(std::string_view stored);

} // namespace sluice::trigger::internal
