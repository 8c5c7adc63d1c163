#pragma once

#include <string_view>

#include "base/bytes.h"
#include "value/value.h"

namespace sluice::value {

/// The stored form of a value, every kind kept: docs/formats/encoding.md. Never changed, only added
/// to.
void encode(const Value& value, Encoder& out);
/// Fails with Corrupt on anything `encode` cannot have written; depth and sizes are bounded.
Result<Value> decode(Decoder& in);

} // namespace sluice::value
