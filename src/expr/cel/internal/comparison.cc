#include "expr/cel/internal/comparison.h"

#include <algorithm>
#include <cstdint>

#include "expr/meter.h"

namespace sluice::expr::cel::internal {
namespace {

using value::Kind;

/// An integer meets a double as a double, rounded: the conformance suite has 2^63 - 1 >= 2^63 as a
/// double.
template <typename Integer>
std::partial_ordering compare_to_double(Integer integer, double number) {
    return static_cast<double>(integer) <=> number;
}

std::partial_ordering compare_signs(std::int64_t left, std::uint64_t right) {
    return left < 0 ? std::partial_ordering::less : static_cast<std::uint64_t>(left) <=> right;
}

std::partial_ordering reverse(std::partial_ordering order) {
    return 0 <=> order;
}

std::partial_ordering compare_numbers(const Value& left, const Value& right) {
    if (right.is_double()) {
        return left.is_double() ? left.as_double() <=> right.as_double()
               : left.is_int()  ? compare_to_double(left.as_int(), right.as_double())
                                : compare_to_double(left.as_uint(), right.as_double());
    }
    if (left.is_double()) {
        return reverse(compare_numbers(right, left));
    }
    if (left.is_int()) {
        return right.is_int() ? left.as_int() <=> right.as_int()
                              : compare_signs(left.as_int(), right.as_uint());
    }
    return right.is_uint() ? left.as_uint() <=> right.as_uint()
                           : reverse(compare_signs(right.as_int(), left.as_uint()));
}

class Equality {
public:
    explicit Equality(Meter& meter) : meter_{meter} {}

    bool holds(const Value& left, const Value& right) {
        if (left.is_number() && right.is_number()) {
            return compare_numbers(left, right) == 0;
        }
        if (left.kind() != right.kind()) {
            return false;
        }
        switch (left.kind()) {
            case Kind::List: return within([&] { return are_lists_equal(left, right); });
            case Kind::Map: return within([&] { return are_maps_equal(left, right); });
            case Kind::String:
            case Kind::Bytes:
                meter_.spend_text(std::min(left.size(), right.size()));
                [[fallthrough]];
            default: return left == right;
        }
    }

private:
    template <typename Compare>
    bool within(Compare compare) {
        if (++depth_ > value_depth_max) {
            meter_.exhaust();
            return false;
        }
        auto result = compare();
        --depth_;
        return result;
    }

    bool are_lists_equal(const Value& left, const Value& right) {
        auto same = [&](const Value& one, const Value& other) {
            return meter_.spend(1) && holds(one, other);
        };
        return std::ranges::equal(left.as_list(), right.as_list(), same);
    }

    bool are_maps_equal(const Value& left, const Value& right) {
        if (left.size() != right.size()) {
            return false;
        }
        return std::ranges::all_of(left.as_map(), [&](const value::Member& member) {
            const auto* other = right.find(member.key);
            return meter_.spend(1) && other != nullptr && holds(member.value, *other);
        });
    }

    Meter& meter_;
    std::size_t depth_ = 0;
};

} // namespace

bool are_equal(const Value& left, const Value& right, Meter& meter) {
    return Equality{meter}.holds(left, right);
}

std::optional<std::partial_ordering> order(const Value& left, const Value& right, Meter& meter) {
    if (left.is_number() && right.is_number()) {
        return compare_numbers(left, right);
    }
    if (left.kind() != right.kind()) {
        return std::nullopt;
    }
    switch (left.kind()) {
        case Kind::Bool: return left.as_bool() <=> right.as_bool();
        case Kind::String:
            meter.spend_text(std::min(left.size(), right.size()));
            return left.as_string() <=> right.as_string();
        case Kind::Bytes:
            meter.spend_text(std::min(left.size(), right.size()));
            return left.as_bytes() <=> right.as_bytes();
        case Kind::Timestamp: return left.as_timestamp() <=> right.as_timestamp();
        case Kind::Duration: return left.as_duration() <=> right.as_duration();
        default: return std::nullopt;
    }
}

} // namespace sluice::expr::cel::internal
