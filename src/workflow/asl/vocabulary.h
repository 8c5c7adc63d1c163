#pragma once

#include <string>

#include "trigger/trigger_set.h"

namespace sluice::workflow::asl {

/// What the triggers of state machines are made of, and what task tokens are answered by.
void add_vocabulary(trigger::Vocabulary& vocabulary, std::string token_key = {});

} // namespace sluice::workflow::asl
