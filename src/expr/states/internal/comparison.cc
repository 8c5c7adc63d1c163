#include "expr/states/internal/comparison.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "base/fingerprint.h"

namespace sluice::expr::states::internal {
namespace {

constexpr std::size_t same_depth_max = 1000;
constexpr std::size_t hash_depth_max = 4;

// Holds every integer of 64 bits and every double exactly.
using Wide = long double;
static_assert(std::numeric_limits<Wide>::digits >= 64);

Wide wide(const Value& number) {
    return number.is_int()    ? static_cast<Wide>(number.as_int())
           : number.is_uint() ? static_cast<Wide>(number.as_uint())
                              : static_cast<Wide>(number.as_double());
}

bool is_same_within(const Value& left, const Value& right, std::size_t depth) {
    if (left.is_number() && right.is_number()) {
        return compare_numbers(left, right) == 0;
    }
    if (left.kind() != right.kind() || left.size() != right.size() || depth > same_depth_max) {
        return false;
    }
    if (left.is_list()) {
        return std::ranges::equal(left.as_list(), right.as_list(),
                                  [&](const Value& one, const Value& other) {
                                      return is_same_within(one, other, depth + 1);
                                  });
    }
    if (left.is_map()) {
        return std::ranges::all_of(left.as_map(), [&](const value::Member& member) {
            const auto* other = right.find(member.key);
            return other != nullptr && is_same_within(member.value, *other, depth + 1);
        });
    }
    return left == right;
}

std::uint64_t hash_within(const Value& value, std::size_t depth) {
    if (value.is_number()) {
        return std::hash<double>{}(static_cast<double>(wide(value)) + 0.0);
    }
    if (!value.is_list() && !value.is_map()) {
        return value::hash(value);
    }
    auto hash = value.size() * 2 + (value.is_map() ? 1 : 0);
    if (depth == hash_depth_max) {
        return hash;
    }
    if (value.is_list()) {
        for (const auto& item : value.as_list()) {
            hash = hash * 0x9E3779B97F4A7C15ULL + hash_within(item, depth + 1);
        }
        return hash;
    }
    for (const auto& [key, member] : value.as_map()) {
        hash += hash64(key, hash_within(member, depth + 1)); // In any order.
    }
    return hash;
}

} // namespace

std::partial_ordering compare_numbers(const Value& left, const Value& right) {
    if (left.is_int() && right.is_int()) {
        return left.as_int() <=> right.as_int();
    }
    return wide(left) <=> wide(right);
}

bool is_same(const Value& left, const Value& right) {
    return is_same_within(left, right, 0);
}

std::uint64_t hash_alike(const Value& value) {
    return hash_within(value, 0);
}

} // namespace sluice::expr::states::internal
