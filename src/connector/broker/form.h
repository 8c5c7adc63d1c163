#pragma once

#include <string_view>

#include "base/result.h"
#include "secret/secrets.h"
#include "value/value.h"

namespace sluice::connector::broker {

/// A form of a source or a sink as people may see it: without passwords, tokens and what else is
/// secret by its name, neither in members nor in the URL.
Value masked(const Value& form);

/// With secrets in place of their references, in every text of it; scopes are those of
/// secret::Secrets.
Result<Value> expand(const Value& form, const secret::Secrets& secrets, std::string_view scope);

} // namespace sluice::connector::broker
