#include "expr/testing/bindings.h"

#include <charconv>

namespace sluice::expr::testing {
namespace {

std::optional<std::size_t> index_of(std::string_view part) {
    auto index = std::size_t{0};
    auto read = std::from_chars(part.data(), part.data() + part.size(), index);
    auto is_whole = read.ec == std::errc{} && read.ptr == part.data() + part.size();
    return is_whole ? std::optional{index} : std::nullopt;
}

const Value* find(const Value& value, std::string_view part) {
    auto index = index_of(part);
    if (!index) {
        return value.find(part);
    }
    return value.is_list() && *index < value.size() ? &value.as_list()[*index] : nullptr;
}

} // namespace

std::optional<Value> MapBindings::resolve(std::span<const std::string_view> path) const {
    const auto* found = &names_;
    for (auto part : path) {
        found = find(*found, part);
        if (found == nullptr) {
            return std::nullopt;
        }
    }
    return *found;
}

CompileOptions options_for(const Value& names) {
    auto options = CompileOptions{};
    for (const auto& [key, value] : names.as_map()) {
        options.names.push_back(key);
    }
    return options;
}

} // namespace sluice::expr::testing
