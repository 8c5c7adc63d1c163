#pragma once

#include <string>
#include <string_view>

#include "expr/states/template.h"
#include "value/value.h"
#include "workflow/asl/internal/read/report.h"

namespace sluice::workflow::asl::internal {

/// An expression that reads `$`, `$$` or a name by itself.
void warn_of_input(std::string_view expression, const std::string& pointer, Report& report);

/// What is wrong with a payload besides the paths and expressions in it, and what its author may
/// have meant otherwise. False: it is not to be compiled.
bool check_payload(const Value& payload, const std::string& pointer,
                   const expr::states::TemplateSite& site, Report& report);

/// Keeps in mind what a compiled field reads, and warns of expressions that read what has no value.
template <typename Compiled>
void note_names(const Compiled& compiled, const std::string& pointer, Report& report) {
    report.note_reads(pointer, compiled.variables());
    for (const auto& expression : compiled.input_readers()) {
        warn_of_input(expression, pointer, report);
    }
}

/// A literal `Result` in which paths are written.
void warn_of_static_result(const Value& result, const std::string& pointer, Report& report);

/// A text that is taken as it stands though it looks like a path.
void warn_of_path(std::string_view text, std::string_view name, const std::string& pointer,
                  Report& report);

} // namespace sluice::workflow::asl::internal
