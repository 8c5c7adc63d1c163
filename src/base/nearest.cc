#include "base/nearest.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace sluice {

namespace {

/// Longer ones are no slips of the pen, and would take long to compare.
constexpr auto compared_bytes_max = std::size_t{60};

/// How many letters must be added, dropped, replaced or swapped with their neighbour.
std::size_t edit_distance(std::string_view left, std::string_view right) {
    auto before = std::vector<std::size_t>(right.size() + 1);
    auto last = before;
    auto current = before;
    std::iota(last.begin(), last.end(), std::size_t{0});
    for (auto row = std::size_t{1}; row <= left.size(); ++row) {
        current[0] = row;
        for (auto at = std::size_t{1}; at <= right.size(); ++at) {
            auto is_same = left[row - 1] == right[at - 1];
            current[at] = std::min({last[at] + 1, current[at - 1] + 1,
                                    last[at - 1] + (is_same ? std::size_t{0} : std::size_t{1})});
            if (row > 1 && at > 1 && left[row - 1] == right[at - 2] &&
                left[row - 2] == right[at - 1]) {
                current[at] = std::min(current[at], before[at - 2] + 1);
            }
        }
        before.swap(last);
        last.swap(current);
    }
    return last[right.size()];
}

} // namespace

std::string_view nearest(std::string_view name, std::span<const std::string_view> known) {
    auto best = std::string_view{};
    auto best_distance = std::max<std::size_t>(1, name.size() / 3) + 1;
    if (name.size() > compared_bytes_max) {
        return best;
    }
    for (auto candidate : known) {
        auto distance = edit_distance(name, candidate);
        if (distance < best_distance) {
            best = candidate;
            best_distance = distance;
        }
    }
    return best;
}

} // namespace sluice
