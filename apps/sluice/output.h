#pragma once

#include "cli/output.h"

namespace sluice::app {

using cli::brief;
using cli::describe_error;
using cli::number;
using cli::print;
using cli::print_json;
using cli::print_line;
using cli::say;
using cli::say_line;
using cli::Table;
using cli::text_at;

} // namespace sluice::app
