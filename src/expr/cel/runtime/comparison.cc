#include "expr/cel/runtime/comparison.h"

#include <algorithm>
#include <cstring>

namespace sluice::expr::cel::runtime {
namespace {

std::partial_ordering compare_signs(std::int64_t left, std::uint64_t right) {
    return left < 0 ? std::partial_ordering::less : static_cast<std::uint64_t>(left) <=> right;
}

std::partial_ordering reverse(std::partial_ordering order) {
    return 0 <=> order;
}

double widened(const Cell& number) {
    return number.is(Kind::Double) ? number.as_double()
           : number.is(Kind::Int)  ? static_cast<double>(number.as_int())
                                   : static_cast<double>(number.as_uint());
}

bool are_intervals_equal(const Interval& left, const Interval& right) {
    return left.size == right.size && left.prefix_bits == right.prefix_bits &&
           std::memcmp(left.bytes, right.bytes, left.size) == 0;
}

class Equality {
public:
    explicit Equality(Meter& meter) : meter_{meter} {}

    bool holds(const Cell& left, const Cell& right) {
        if (left.is_number() && right.is_number()) {
            return compare_numbers(left, right) == 0;
        }
        if (left.kind() != right.kind()) {
            return false;
        }
        switch (left.kind()) {
            case Kind::Null: return true;
            case Kind::Bool: return left.as_bool() == right.as_bool();
            case Kind::String:
            case Kind::Bytes:
                meter_.spend_text(std::min(left.size(), right.size()));
                return left.text() == right.text();
            case Kind::Timestamp: return left.as_timestamp() == right.as_timestamp();
            case Kind::Duration: return left.as_duration() == right.as_duration();
            case Kind::Type: return left.as_type() == right.as_type();
            case Kind::Address:
            case Kind::Network: return are_intervals_equal(left.interval(), right.interval());
            default: return within(left, right);
        }
    }

private:
    bool within(const Cell& left, const Cell& right) {
        if (++depth_ > value_depth_max) {
            meter_.exhaust();
            return false;
        }
        auto result = left.is(Kind::List)  ? are_lists_equal(left, right)
                      : left.is(Kind::Map) ? are_maps_equal(left, right)
                                           : are_optionals_equal(left, right);
        --depth_;
        return result;
    }

    bool are_lists_equal(const Cell& left, const Cell& right) {
        if (left.size() != right.size()) {
            return false;
        }
        for (auto at = std::size_t{0}; at < left.size(); ++at) {
            if (!meter_.spend(1) || !holds(left.item(at), right.item(at))) {
                return false;
            }
        }
        return true;
    }

    bool are_maps_equal(const Cell& left, const Cell& right) {
        if (left.size() != right.size()) {
            return false;
        }
        for (auto at = std::size_t{0}; at < left.size(); ++at) {
            auto entry = left.entry(at);
            auto other = Cell{};
            if (!meter_.spend(1) || !right.find(entry.key, other) || !holds(entry.value, other)) {
                return false;
            }
        }
        return true;
    }

    bool are_optionals_equal(const Cell& left, const Cell& right) {
        if (left.held() == nullptr || right.held() == nullptr) {
            return left.held() == right.held();
        }
        return meter_.spend(1) && holds(*left.held(), *right.held());
    }

    Meter& meter_;
    std::size_t depth_ = 0;
};

} // namespace

std::partial_ordering compare_numbers(const Cell& left, const Cell& right) {
    if (left.is(Kind::Double) || right.is(Kind::Double)) {
        return widened(left) <=> widened(right);
    }
    if (left.is(Kind::Int)) {
        return right.is(Kind::Int) ? left.as_int() <=> right.as_int()
                                   : compare_signs(left.as_int(), right.as_uint());
    }
    return right.is(Kind::Uint) ? left.as_uint() <=> right.as_uint()
                                : reverse(compare_signs(right.as_int(), left.as_uint()));
}

bool are_equal(const Cell& left, const Cell& right, Meter& meter) {
    return Equality{meter}.holds(left, right);
}

std::optional<std::partial_ordering> order(const Cell& left, const Cell& right, Meter& meter) {
    if (left.is_number() && right.is_number()) {
        return compare_numbers(left, right);
    }
    if (left.kind() != right.kind()) {
        return std::nullopt;
    }
    switch (left.kind()) {
        case Kind::Bool: return left.as_bool() <=> right.as_bool();
        case Kind::String:
        case Kind::Bytes:
            meter.spend_text(std::min(left.size(), right.size()));
            return left.text() <=> right.text();
        case Kind::Timestamp: return left.as_timestamp() <=> right.as_timestamp();
        case Kind::Duration: return left.as_duration() <=> right.as_duration();
        default: return std::nullopt;
    }
}

} // namespace sluice::expr::cel::runtime
