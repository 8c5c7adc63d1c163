#include "trigger/ids.h"

#include <algorithm>

#include <fmt/format.h>

namespace sluice::trigger {

namespace {

constexpr auto spread_mark = std::string_view{"~spread"};

bool is_number(std::string_view text) {
    return !text.empty() &&
           std::ranges::all_of(text, [](char letter) { return letter >= '0' && letter <= '9'; });
}

} // namespace

bool is_nested_run_id(std::string_view id) {
    if (id.ends_with(spread_mark)) {
        return true;
    }
    auto mark = id.rfind('~');
    if (mark == std::string_view::npos) {
        return false;
    }
    auto task = id.substr(mark + 1);
    auto dot = task.find('.');
    return dot != std::string_view::npos && is_number(task.substr(0, dot)) &&
           is_number(task.substr(dot + 1));
}

bool is_given_run_id(std::string_view id) {
    return is_run_id(id) && !id.starts_with('~') && !id.ends_with('~') && !is_nested_run_id(id);
}

std::string nested_run_id(std::string_view parent, FireNumber fire, std::uint64_t index,
                          Placement placement) {
    if (placement == Placement::Beside) {
        return fmt::format("{}~{}.{}", parent, fire.raw(), index);
    }
    // The placement key is its own; what the parent has behind its key keeps the id unique.
    auto key = parent.substr(0, parent.find('~'));
    return fmt::format("{}.{}.{}{}{}", key, fire.raw(), index, parent.substr(key.size()),
                       spread_mark);
}

bool is_spread(std::string_view nested) {
    return nested.ends_with(spread_mark);
}

} // namespace sluice::trigger
