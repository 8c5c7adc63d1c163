#include "workflow/asl/internal/read/payload_check.h"

#include <functional>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace sluice::workflow::asl::internal {

namespace {

using expr::states::Language;

bool looks_like_path(std::string_view text) {
    return text.starts_with("$.") || text.starts_with("$$.") || text.starts_with("$[");
}

bool looks_computed(std::string_view text) {
    return looks_like_path(text) || text == "$" || text == "$$" ||
           (text.starts_with("States.") && text.ends_with(')'));
}

/// A value in a payload: its key in the map around it, if that is a map, and its pointer.
struct Piece {
    const Value* value = nullptr;
    std::string_view key{};
    std::string pointer{};

    bool has_text() const { return value->is_string(); }
    std::string_view text() const { return value->as_string(); }
};

/// Every value in a payload, itself included. Without recursion: payloads may be deep.
void each_piece(const Value& payload, const std::string& pointer,
                const std::function<void(const Piece&)>& take) {
    auto open = std::vector<Piece>{{.value = &payload, .pointer = pointer}};
    while (!open.empty()) {
        auto piece = std::move(open.back());
        open.pop_back();
        take(piece);
        if (piece.value->is_list()) {
            auto index = std::size_t{0};
            for (const auto& item : piece.value->as_list()) {
                open.push_back({.value = &item, .pointer = join(piece.pointer, index++)});
            }
        } else if (piece.value->is_map()) {
            for (const auto& [key, member] : piece.value->as_map()) {
                open.push_back({&member, key, join(piece.pointer, key)});
            }
        }
    }
}

/// The service takes a text with one mark alone for a slip.
bool has_one_mark(std::string_view text) {
    return text.starts_with("{%") != text.ends_with("%}") || text == "{%}";
}

void check_jsonata_piece(const Piece& piece, Report& report) {
    if (piece.has_text() && has_one_mark(piece.text())) {
        report.add(piece.pointer, fmt::format("The JSONata expression '{}' must begin with '{{%' "
                                              "and end with '%}}'",
                                              piece.text()));
    }
}

void check_path_piece(const Piece& piece, Report& report) {
    if (!piece.key.empty() && !piece.key.ends_with(".$") && piece.has_text() &&
        looks_computed(piece.text())) {
        report.warn(piece.pointer,
                    fmt::format("The value of '{}' looks like a path or an intrinsic function but "
                                "is taken as it stands; '{}.$' would compute it",
                                piece.key, piece.key),
                    code::no_dollar);
    }
}

} // namespace

bool check_payload(const Value& payload, const std::string& pointer,
                   const expr::states::TemplateSite& site, Report& report) {
    auto count = report.size();
    auto check_piece =
        site.language == Language::Jsonata ? &check_jsonata_piece : &check_path_piece;
    each_piece(payload, pointer, [&](const Piece& piece) { check_piece(piece, report); });
    return report.size() == count;
}

void warn_of_input(std::string_view expression, const std::string& pointer, Report& report) {
    report.warn(
        pointer,
        fmt::format("The JSONata expression '{}' reads '$', '$$' or a name by itself, which "
                    "are undefined here: '$states.input' is the input of the state",
                    expression),
        code::no_input);
}

void warn_of_static_result(const Value& result, const std::string& pointer, Report& report) {
    each_piece(result, pointer, [&](const Piece& piece) {
        if (piece.key.ends_with(".$") || (piece.has_text() && looks_like_path(piece.text()))) {
            report.warn(piece.pointer,
                        "This is a part of 'Result', which is taken as it stands; 'Parameters' "
                        "would compute it",
                        code::static_result);
        }
    });
}

void warn_of_path(std::string_view text, std::string_view name, const std::string& pointer,
                  Report& report) {
    if (looks_like_path(text)) {
        report.warn(pointer,
                    fmt::format("The value of '{}' looks like a path but is taken as it stands; "
                                "'{}Path' would read it",
                                name, name),
                    code::no_path);
    }
}

} // namespace sluice::workflow::asl::internal
