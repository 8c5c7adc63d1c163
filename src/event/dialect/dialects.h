#pragma once

#include "event/filter.h"

namespace sluice::event {

/// `sql`, `cesql` and `cel`, each with an expression as text.
const Dialects& expression_dialects();

} // namespace sluice::event
