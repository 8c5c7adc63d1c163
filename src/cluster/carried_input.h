#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/input.h"

namespace sluice::cluster {

/// Whether an input can travel to another process: it holds no code.
bool can_be_carried(const engine::Input& input);
/// Whether taking it twice does what taking it once does.
bool is_repeatable(const engine::Input& input);

/// The bytes of an input, without who waits for it. It must be one that can be carried.
std::string encode_input(const engine::Input& input);
/// `done` hears the answer; a message between shards has none, nor has LeaveInput. Fails with
/// Corrupt or, for what another release wrote, Unsupported.
Result<engine::Input> decode_input(std::string_view bytes, engine::Done done);

std::string encode_answer(const Result<Value>& answer);
/// The answer as it was. Corrupt when the bytes are none.
Result<Value> decode_answer(std::string_view bytes);

} // namespace sluice::cluster
