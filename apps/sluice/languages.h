#pragma once

#include "trigger/trigger_set.h"

namespace sluice::app {

/// The conditions and actions of the kernel and of every language that definitions are written in.
trigger::Vocabulary make_vocabulary();

} // namespace sluice::app
