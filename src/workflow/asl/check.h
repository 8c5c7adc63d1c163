#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "value/value.h"
#include "workflow/asl/read.h"
#include "workflow/raw/finding.h"
#include "workflow/raw/parse.h"

namespace sluice::workflow::asl {

/// How deep the JSON of a machine may nest: some 200 Parallel states within each other.
inline constexpr auto depth_max = std::size_t{1000};

/// Whether a document is meant as a state machine: it has `StartAt` or `States`.
bool resembles_machine(const Value& form);
/// Whether the name of a file says that it holds one: `.asl.json`, `.asl.yaml`, `.asl.yml`.
bool is_machine_file(std::string_view file);
/// Whether a file may hold one, by its name or its words: it is then read with `depth_max` levels.
bool may_be_machine(std::string_view text, std::string_view file);

/// Everything that is wrong with a machine, with its place in the file; then what does not stop it,
/// as warnings.
std::vector<raw::Finding> check(const raw::Document& document, const ReadOptions& options = {});

} // namespace sluice::workflow::asl
