#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace sluice::expr::jsonata::internal {

/// Stable, and safe whatever an author's comparison says: std::stable_sort asks for an order.
template <typename T, typename IsAfter>
void merge_sort(std::vector<T>& elements, IsAfter&& is_after) {
    auto size = elements.size();
    if (size < 2) {
        return;
    }
    auto middle = static_cast<std::ptrdiff_t>(size / 2);
    auto left = std::vector<T>(elements.begin(), elements.begin() + middle);
    auto right = std::vector<T>(elements.begin() + middle, elements.end());
    merge_sort(left, is_after);
    merge_sort(right, is_after);
    auto i = std::size_t{0};
    auto j = std::size_t{0};
    for (auto& element : elements) {
        auto takes_right =
            i == left.size() || (j < right.size() && is_after(left[i], right[j]));
        element = takes_right ? std::move(right[j++]) : std::move(left[i++]);
    }
}

} // namespace sluice::expr::jsonata::internal
