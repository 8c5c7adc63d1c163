#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"
#include "value/value.h"

namespace sluice::cli {

/// A file's text; `-` is standard input. Fails with NotFound or Io, saying why.
Result<std::string> read_text(const std::string& path);

/// All of it or nothing, with the mode it had.
Result<void> replace_file(const std::filesystem::path& file, std::string_view text);

} // namespace sluice::cli
