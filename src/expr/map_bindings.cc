#include "expr/map_bindings.h"

#include <charconv>
#include <optional>

namespace sluice::expr {
namespace {

std::optional<std::size_t> index_of(std::string_view part) {
    auto index = std::size_t{0};
    const auto* end = part.data() + part.size();
    auto read = std::from_chars(part.data(), end, index);
    auto is_index = read.ec == std::errc{} && read.ptr == end;
    return is_index ? std::optional{index} : std::nullopt;
}

/// A part of digits is an index of a list: no language asks for a member of that name by a path.
const Value* find_part(const Value& value, std::string_view part) {
    auto index = index_of(part);
    if (!index) {
        return value.find(part);
    }
    return value.is_list() && *index < value.size() ? &value.as_list()[*index] : nullptr;
}

} // namespace

const Value* find_at(const Value& value, std::span<const std::string_view> path) {
    const auto* found = &value;
    for (auto part : path) {
        found = find_part(*found, part);
        if (found == nullptr) {
            return nullptr;
        }
    }
    return found;
}

} // namespace sluice::expr
