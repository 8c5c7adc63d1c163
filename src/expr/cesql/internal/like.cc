#include "expr/cesql/internal/like.h"

#include <algorithm>
#include <optional>

#include "base/utf8.h"

namespace sluice::expr::cesql::internal {
namespace {

// Beyond all characters.
constexpr auto any_run = std::uint32_t{0xFFFF'FFFF};
constexpr auto any_one = std::uint32_t{0xFFFF'FFFE};

CodePoint next_of(std::string_view text) {
    auto next = decode_utf8(text);
    return next.size > 0 ? next : CodePoint{static_cast<unsigned char>(text.front()), 1};
}

} // namespace

std::vector<std::uint32_t> compile_like(std::string_view pattern) {
    auto out = std::vector<std::uint32_t>{};
    while (!pattern.empty()) {
        if (pattern.starts_with("\\%") || pattern.starts_with("\\_")) {
            out.push_back(static_cast<unsigned char>(pattern[1]));
            pattern.remove_prefix(2);
            continue;
        }
        auto next = next_of(pattern);
        auto is_run = next.code == '%';
        if (!is_run || out.empty() || out.back() != any_run) {
            out.push_back(is_run ? any_run : next.code == '_' ? any_one : next.code);
        }
        pattern.remove_prefix(next.size);
    }
    return out;
}

/// Only the last run that was met can have to take more: no two of them are tried against each
/// other.
bool is_like(std::string_view text, const std::vector<std::uint32_t>& pattern) {
    auto at = std::size_t{0};
    auto behind_run = std::optional<std::size_t>{};
    auto taken_by_run = std::string_view{};
    while (!text.empty()) {
        auto next = next_of(text);
        if (at < pattern.size() && pattern[at] == any_run) {
            behind_run = ++at;
            taken_by_run = text;
        } else if (at < pattern.size() && (pattern[at] == any_one || pattern[at] == next.code)) {
            ++at;
            text.remove_prefix(next.size);
        } else if (behind_run) {
            taken_by_run.remove_prefix(next_of(taken_by_run).size);
            text = taken_by_run;
            at = *behind_run;
        } else {
            return false;
        }
    }
    return std::ranges::all_of(pattern.begin() + static_cast<std::ptrdiff_t>(at), pattern.end(),
                               [](std::uint32_t code) { return code == any_run; });
}

} // namespace sluice::expr::cesql::internal
