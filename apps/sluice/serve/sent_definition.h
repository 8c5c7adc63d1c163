#pragma once

#include <set>
#include <string>
#include <string_view>

#include "server/services.h"
#include "trigger/trigger_set.h"

namespace sluice::app {

/// A definition that came through the API. It brings no functions: those that it declares must be
/// among the known ones, under whatever kind the operator gave them.
server::Compiled compile(const trigger::Vocabulary& vocabulary,
                         const std::set<std::string, std::less<>>& known_functions,
                         std::string_view source, std::string_view file);

} // namespace sluice::app
