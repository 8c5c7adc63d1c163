#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace sluice::trigger {

/// Makes history records smaller for the store: docs/formats/history.md.
///
/// Events of a batch are alike, so that a record of many shrinks to a fraction; it would otherwise
/// be copied, checked and written several times over. One of few events stays as it is.
class RecordPacker {
public:
    /// Good until the next call, and as long as the record is.
    std::string_view pack(std::string_view record);

private:
    std::string room_;
};

bool is_packed(std::string_view stored);
/// The record as it was. Fails with Corrupt.
Result<std::string> unpack(std::string_view stored);

} // namespace sluice::trigger
