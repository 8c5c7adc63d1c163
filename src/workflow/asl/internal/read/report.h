#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workflow/asl/read.h"

namespace sluice::workflow::asl::internal {

/// What the service calls the kinds of problems.
namespace code {
inline constexpr auto schema = std::string_view{"SCHEMA_VALIDATION_FAILED"};
inline constexpr auto no_description = std::string_view{"MISSING_DESCRIPTION"};
inline constexpr auto no_target = std::string_view{"MISSING_TRANSITION_TARGET"};
inline constexpr auto no_end = std::string_view{"MISSING_END_STATE"};
inline constexpr auto repeated_name = std::string_view{"DUPLICATE_STATE_NAME"};
inline constexpr auto bad_name = std::string_view{"INVALID_STATE_NAME"};
inline constexpr auto repeated_label = std::string_view{"DUPLICATE_LABEL_NAME"};
inline constexpr auto bad_label = std::string_view{"INVALID_LABEL_NAME"};
inline constexpr auto unsupported = std::string_view{"INVALID_RESOURCE"};
inline constexpr auto no_dollar = std::string_view{"NO_DOLLAR"};
inline constexpr auto no_path = std::string_view{"NO_PATH"};
inline constexpr auto static_result = std::string_view{"PASS_RESULT_IS_STATIC"};
inline constexpr auto inferred_mode = std::string_view{"INFERRED_MODE"};
inline constexpr auto mixed_language = std::string_view{"MIXED_QUERY_LANGUAGE"};
inline constexpr auto odd_variable = std::string_view{"INVALID_VARIABLE_NAME"};
inline constexpr auto unknown_variable = std::string_view{"UNKNOWN_VARIABLE"};
inline constexpr auto no_input = std::string_view{"NO_INPUT_IN_EXPRESSION"};
inline constexpr auto placeholder = std::string_view{"UNRESOLVED_SUBSTITUTION"};
} // namespace code

/// The JSON pointer of a member or an item.
std::string join(std::string_view pointer, std::string_view key);
std::string join(std::string_view pointer, std::size_t index);

/// A field that reads a variable.
struct VariableRead {
    std::string name;
    std::string pointer;
};

/// What was found wrong so far; more than a thousand things are not kept.
class Report {
public:
    void add(std::string_view pointer, std::string message, std::string_view name = code::schema);
    void warn(std::string_view pointer, std::string message, std::string_view name);

    /// Whether these variables are there shows when all states are read.
    void note_reads(std::string_view pointer, const std::vector<std::string>& variables);
    /// Those that were noted since it was last asked.
    std::vector<VariableRead> take_reads() { return std::exchange(reads_, {}); }

    std::size_t size() const { return errors_.size(); }
    std::vector<Diagnostic> take_errors() { return std::move(errors_); }
    std::vector<Diagnostic> take_warnings() { return std::move(warnings_); }

private:
    std::vector<Diagnostic> errors_;
    std::vector<Diagnostic> warnings_;
    std::vector<VariableRead> reads_;
};

} // namespace sluice::workflow::asl::internal
