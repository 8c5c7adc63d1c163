#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "value/json.h"
#include "value/value.h"

namespace sluice::cli {

/// What an option gives as JSON, or as `@FILE` with JSON in it. Fails with InvalidInput.
Result<Value> read_json_option(std::string_view option, const std::string& given,
                               const value::JsonLimits& limits = {});

} // namespace sluice::cli
