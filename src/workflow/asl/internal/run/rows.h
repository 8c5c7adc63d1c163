#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "value/value.h"

namespace sluice::workflow::asl::internal::run {

/// The rows of a part of a CSV file, or the lines of one of JSON documents.
class RowReader {
public:
    /// `is_last`: nothing follows the text; otherwise a row without its end is left for the next
    /// part.
    RowReader(std::string_view text, char delimiter, bool is_last)
        : text_(text), delimiter_(delimiter), is_last_(is_last) {}

    std::optional<std::vector<std::string>> next_row();
    /// A row as an object: what is beyond the names is dropped, what is missing is empty. Nothing:
    /// no more.
    Result<std::optional<Value>> next_item(const std::vector<std::string>& names);
    /// A line of JSON; nothing: no more.
    Result<std::optional<Value>> next_document();

    /// Behind the last row taken.
    std::size_t offset() const { return at_; }
    bool is_last() const { return is_last_; }

private:
    std::string_view text_;
    char delimiter_;
    bool is_last_;
    std::size_t at_ = 0;
};

std::vector<std::vector<std::string>> split_rows(std::string_view text, char delimiter);

} // namespace sluice::workflow::asl::internal::run
