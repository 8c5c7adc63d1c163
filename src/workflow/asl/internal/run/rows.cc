#include "workflow/asl/internal/run/rows.h"

#include <utility>

#include "value/json.h"

namespace sluice::workflow::asl::internal::run {

/// RFC 4180: fields may be in quotes, which are doubled inside.
std::optional<std::vector<std::string>> RowReader::next_row() {
    if (at_ >= text_.size()) {
        return std::nullopt;
    }
    auto row = std::vector<std::string>{};
    auto field = std::string{};
    auto is_quoted = false;
    for (auto at = at_; at < text_.size(); ++at) {
        auto sign = text_[at];
        if (is_quoted) {
            auto is_doubled = sign == '"' && at + 1 < text_.size() && text_[at + 1] == '"';
            if (sign != '"' || is_doubled) {
                field += sign;
                at += is_doubled ? 1 : 0;
            } else {
                is_quoted = false;
            }
        } else if (sign == '"' && field.empty()) {
            is_quoted = true;
        } else if (sign == delimiter_) {
            row.push_back(std::exchange(field, {}));
        } else if (sign == '\n') {
            if (field.ends_with('\r')) {
                field.pop_back();
            }
            row.push_back(std::move(field));
            at_ = at + 1;
            return row;
        } else {
            field += sign;
        }
    }
    if (!is_last_) {
        return std::nullopt; // Its end is in the next part.
    }
    row.push_back(std::move(field));
    at_ = text_.size();
    return row;
}

Result<std::optional<Value>> RowReader::next_item(const std::vector<std::string>& names) {
    auto row = next_row();
    if (!row) {
        return std::nullopt;
    }
    auto members = std::vector<value::Member>{};
    for (auto at = std::size_t{0}; at < names.size(); ++at) {
        members.push_back({names[at], at < row->size() ? Value{(*row)[at]} : Value{""}});
    }
    return Value::map(std::move(members));
}

Result<std::optional<Value>> RowReader::next_document() {
    while (at_ < text_.size()) {
        auto end = text_.find('\n', at_);
        if (end == std::string_view::npos && !is_last_) {
            return std::nullopt;
        }
        auto line = text_.substr(at_, end == std::string_view::npos ? end : end - at_);
        auto start = at_;
        at_ = end == std::string_view::npos ? text_.size() : end + 1;
        if (line.find_first_not_of(" \t\r") == std::string_view::npos) {
            continue;
        }
        auto parsed = value::parse_json(line);
        if (!parsed) {
            return fail(Errc::InvalidInput, "Unable to parse the JSON line at byte {}: {}", start,
                        parsed.error().message);
        }
        return *std::move(parsed);
    }
    return std::nullopt;
}

std::vector<std::vector<std::string>> split_rows(std::string_view text, char delimiter) {
    auto reader = RowReader{text, delimiter, true};
    auto rows = std::vector<std::vector<std::string>>{};
    while (auto row = reader.next_row()) {
        rows.push_back(*std::move(row));
    }
    return rows;
}

} // namespace sluice::workflow::asl::internal::run
