#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace sluice {

/// A number or name that cannot be mistaken for another: `using ShardId = Strong<struct ShardTag,
/// std::uint16_t>`. It converts neither from nor to its representation unasked.
template <typename Tag, typename Rep>
class Strong {
public:
    using rep = Rep; // NOLINT(readability-identifier-naming): the name std::chrono uses.

    constexpr Strong() = default;
    constexpr explicit Strong(Rep raw) : raw_(std::move(raw)) {}

    constexpr const Rep& raw() const { return raw_; }

    constexpr auto operator<=>(const Strong&) const = default;

private:
    Rep raw_{};
};

} // namespace sluice

template <typename Tag, typename Rep>
struct std::hash<sluice::Strong<Tag, Rep>> {
    std::size_t operator()(const sluice::Strong<Tag, Rep>& id) const {
        return std::hash<Rep>{}(id.raw());
    }
};
