#pragma once

#include <expected>
#include <string_view>

#include "expr/cesql/internal/node.h"
#include "expr/program.h"

namespace sluice::expr::cesql::internal {

std::expected<Node, Fault> parse(std::string_view text);

} // namespace sluice::expr::cesql::internal
