#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "trigger/history.h"

namespace sluice::trigger::internal {

/// A history record as the store keeps it: docs/formats/history.md. Packed into `room` where that
/// is worth it, else the record itself.
std::string_view pack(std::string_view record, std::string& room);
bool is_packed(std::string_view stored);
/// The record as it was. Fails with Corrupt.
Result<std::string> unpack(std::string_view stored);

/// What stands before a record that lies in texts: these, as they came packed. Nothing without any.
void put_texts(const Journal::Texts& texts, std::string& stored);
/// All of them unpacked, one behind the other; the record is left. Fails with Corrupt.
Result<std::string> take_texts(std::string_view& stored);

} // namespace sluice::trigger::internal
