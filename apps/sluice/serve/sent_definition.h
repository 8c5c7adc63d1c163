#pragma once

#include <string>
#include <string_view>

#include "server/services.h"
#include "sluice/languages.h"
#include "trigger/trigger_set.h"

namespace sluice::app {

/// A definition that came through the API. It brings no functions but those of its tasks: others
/// that it declares must be among the known ones, under whatever kind the operator gave them.
server::Compiled compile(const trigger::Vocabulary& vocabulary, const KnownFunctions& known,
                         std::string_view source, std::string_view file);

} // namespace sluice::app
