#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "base/fingerprint.h"
#include "value/value.h"

// Equality, order and hash of values. None of them recurses without a bound: values made by
// expressions may be nested deeper than the stack is.

namespace sluice::value {

namespace {

__extension__ using Wide = __int128;

using Pair = std::pair<const Value*, const Value*>;

bool is_container(const Value& value) {
    return value.is_list() || value.is_map();
}

int rank(Kind kind) {
    switch (kind) {
        case Kind::Null: return 0;
        case Kind::Bool: return 1;
        case Kind::Int:
        case Kind::Uint:
        case Kind::Double: return 2;
        case Kind::String: return 3;
        case Kind::Bytes: return 4;
        case Kind::Timestamp: return 5;
        case Kind::Duration: return 6;
        case Kind::List: return 7;
        case Kind::Map: return 8;
    }
    return 9;
}

std::strong_ordering compare_doubles(double left, double right) {
    if (std::isnan(left) || std::isnan(right)) {
        return std::isnan(right) <=> std::isnan(left);
    }
    return left < right   ? std::strong_ordering::less
           : left > right ? std::strong_ordering::greater
                          : std::strong_ordering::equal;
}

// Exact: a double that is no integer lies between two, and beyond 64 bits its size decides.
std::strong_ordering compare_mixed(Wide integer, double number) {
    if (std::isnan(number) || number < -0x1p63) {
        return std::strong_ordering::greater;
    }
    if (number >= 0x1p64) {
        return std::strong_ordering::less;
    }
    auto whole = static_cast<Wide>(number);
    if (integer != whole) {
        return integer < whole ? std::strong_ordering::less : std::strong_ordering::greater;
    }
    return compare_doubles(0.0, number - static_cast<double>(whole));
}

Wide integer_of(const Value& value) {
    return value.is_int() ? Wide{value.as_int()} : Wide{value.as_uint()};
}

std::strong_ordering compare_on_line(const Value& left, const Value& right) {
    if (left.is_double() && right.is_double()) {
        return compare_doubles(left.as_double(), right.as_double());
    }
    if (right.is_double()) {
        return compare_mixed(integer_of(left), right.as_double());
    }
    if (left.is_double()) {
        return 0 <=> compare_mixed(integer_of(right), left.as_double());
    }
    auto [first, second] = std::pair{integer_of(left), integer_of(right)};
    return first < second   ? std::strong_ordering::less
           : first > second ? std::strong_ordering::greater
                            : std::strong_ordering::equal;
}

std::strong_ordering compare_numbers(const Value& left, const Value& right) {
    auto order = compare_on_line(left, right);
    return order != 0 ? order : left.kind() <=> right.kind();
}

// Two lists or two maps count as equal here: what they hold is compared by the caller.
std::strong_ordering compare_shallow(const Value& left, const Value& right) {
    auto order = rank(left.kind()) <=> rank(right.kind());
    if (order != 0) {
        return order;
    }
    switch (left.kind()) {
        case Kind::Bool: return left.as_bool() <=> right.as_bool();
        case Kind::Int:
        case Kind::Uint:
        case Kind::Double: return compare_numbers(left, right);
        case Kind::String: return left.as_string() <=> right.as_string();
        case Kind::Bytes: return left.as_bytes() <=> right.as_bytes();
        case Kind::Timestamp: return left.as_timestamp() <=> right.as_timestamp();
        case Kind::Duration: return left.as_duration() <=> right.as_duration();
        default: return std::strong_ordering::equal;
    }
}

/// What decides between two containers: the first pair that differs, else `otherwise`.
struct Level {
    std::vector<Pair> pairs;
    std::strong_ordering otherwise = std::strong_ordering::equal;
    std::size_t at = 0;
};

Level level_of_lists(std::span<const Value> left, std::span<const Value> right) {
    auto level = Level{.pairs = {}, .otherwise = left.size() <=> right.size()};
    auto common = std::min(left.size(), right.size());
    level.pairs.reserve(common);
    for (auto at = std::size_t{0}; at < common; ++at) {
        level.pairs.emplace_back(&left[at], &right[at]);
    }
    return level;
}

std::vector<const Member*> in_key_order(std::span<const Member> members) {
    auto sorted = std::vector<const Member*>{};
    sorted.reserve(members.size());
    for (const auto& member : members) {
        sorted.push_back(&member);
    }
    std::ranges::sort(sorted, {},
                      [](const Member* member) { return std::string_view{member->key}; });
    return sorted;
}

Level level_of_maps(std::span<const Member> left, std::span<const Member> right) {
    auto first = in_key_order(left);
    auto second = in_key_order(right);
    auto level = Level{.pairs = {}, .otherwise = first.size() <=> second.size()};
    for (auto at = std::size_t{0}; at < std::min(first.size(), second.size()); ++at) {
        auto order = first[at]->key <=> second[at]->key;
        if (order != 0) {
            level.otherwise = order;
            break;
        }
        level.pairs.emplace_back(&first[at]->value, &second[at]->value);
    }
    return level;
}

Level level_of(const Value& left, const Value& right) {
    return left.is_list() ? level_of_lists(left.as_list(), right.as_list())
                          : level_of_maps(left.as_map(), right.as_map());
}

bool push_items(std::span<const Value> left, std::span<const Value> right,
                std::vector<Pair>& pending) {
    if (left.size() != right.size()) {
        return false;
    }
    for (auto at = std::size_t{0}; at < left.size(); ++at) {
        pending.emplace_back(&left[at], &right[at]);
    }
    return true;
}

bool push_members(const Value& left, const Value& right, std::vector<Pair>& pending) {
    auto [first, second] = std::pair{left.as_map(), right.as_map()};
    if (first.size() != second.size()) {
        return false;
    }
    for (auto at = std::size_t{0}; at < first.size(); ++at) {
        // Mostly both have the same order, which spares the search.
        const auto* partner =
            first[at].key == second[at].key ? &second[at].value : right.find(first[at].key);
        if (partner == nullptr) {
            return false;
        }
        pending.emplace_back(&first[at].value, partner);
    }
    return true;
}

bool push_children(const Value& left, const Value& right, std::vector<Pair>& pending) {
    return left.is_list() ? push_items(left.as_list(), right.as_list(), pending)
                          : push_members(left, right, pending);
}

// One zero and one NaN, as equality has it.
double normal(double number) {
    if (std::isnan(number)) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    return number == 0 ? 0.0 : number;
}

std::uint64_t hash_number(Kind kind, std::uint64_t bits) {
    auto mixed = std::array{static_cast<std::uint64_t>(kind), bits};
    return hash64({reinterpret_cast<const char*>(mixed.data()), sizeof(mixed)});
}

std::uint64_t hash_within(const Value& value, int depth_left);

std::uint64_t hash_children(const Value& value, int depth_left) {
    auto sum = std::uint64_t{value.size()};
    if (depth_left == 0) {
        return hash_number(value.kind(), sum);
    }
    if (value.is_list()) {
        for (const auto& item : value.as_list()) {
            sum = std::rotl(sum, 5) * 0x9E3779B97F4A7C15ULL + hash_within(item, depth_left - 1);
        }
    } else {
        // A sum, because the order of members does not count.
        for (const auto& [key, member] : value.as_map()) {
            sum += hash64(key, hash_within(member, depth_left - 1));
        }
    }
    return hash_number(value.kind(), sum);
}

std::uint64_t hash_within(const Value& value, int depth_left) {
    switch (value.kind()) {
        case Kind::Null: return hash_number(Kind::Null, 0);
        case Kind::Bool: return hash_number(Kind::Bool, value.as_bool() ? 1 : 0);
        case Kind::Int: return hash_number(Kind::Int, static_cast<std::uint64_t>(value.as_int()));
        case Kind::Uint: return hash_number(Kind::Uint, value.as_uint());
        case Kind::Double:
            return hash_number(Kind::Double,
                               std::bit_cast<std::uint64_t>(normal(value.as_double())));
        case Kind::String: return hash64(value.as_string(), 1);
        case Kind::Bytes: return hash64(value.as_bytes(), 2);
        case Kind::Timestamp:
            return hash_number(
                Kind::Timestamp,
                static_cast<std::uint64_t>(value.as_timestamp().time_since_epoch().count()));
        case Kind::Duration:
            return hash_number(Kind::Duration,
                               static_cast<std::uint64_t>(value.as_duration().count()));
        case Kind::List:
        case Kind::Map: return hash_children(value, depth_left);
    }
    return 0;
}

} // namespace

bool Value::operator==(const Value& other) const {
    if (!is_container(*this)) {
        return compare_shallow(*this, other) == 0;
    }
    auto pending = std::vector<Pair>{};
    pending.emplace_back(this, &other);
    while (!pending.empty()) {
        auto [left, right] = pending.back();
        pending.pop_back();
        // The same bits are the same number, small text or shared block.
        if (std::memcmp(left->storage_, right->storage_, sizeof(storage_)) == 0) {
            continue;
        }
        if (compare_shallow(*left, *right) != 0) {
            return false;
        }
        if (is_container(*left) && !push_children(*left, *right, pending)) {
            return false;
        }
    }
    return true;
}

std::strong_ordering compare(const Value& left, const Value& right) {
    auto order = compare_shallow(left, right);
    if (order != 0 || !is_container(left)) {
        return order;
    }
    auto levels = std::vector<Level>{};
    levels.push_back(level_of(left, right));
    while (!levels.empty()) {
        auto& level = levels.back();
        if (level.at == level.pairs.size()) {
            if (level.otherwise != 0) {
                return level.otherwise;
            }
            levels.pop_back();
            continue;
        }
        auto [first, second] = level.pairs[level.at++];
        order = compare_shallow(*first, *second);
        if (order != 0) {
            return order;
        }
        if (is_container(*first)) {
            levels.push_back(level_of(*first, *second));
        }
    }
    return std::strong_ordering::equal;
}

std::uint64_t hash(const Value& value) {
    // Below this depth only kind and size count: equal values still have equal hashes.
    constexpr auto depth_max = 32;
    return hash_within(value, depth_max);
}

} // namespace sluice::value
